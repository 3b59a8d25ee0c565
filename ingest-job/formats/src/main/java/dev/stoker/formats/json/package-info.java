/**
 * JSON lines: one object per line. {@link dev.stoker.formats.json.JsonInference} finds the columns in the first rows,
 * {@link dev.stoker.formats.json.JsonRow} reads a line into one slot per column.
 */
package dev.stoker.formats.json;
