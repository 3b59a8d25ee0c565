/**
 * JSON objects as rows: one object per line of a file, or per record of a topic. {@link
 * dev.stoker.formats.json.JsonInference} finds the columns in the first objects, {@link
 * dev.stoker.formats.json.JsonRow} reads an object into one slot per column.
 */
package dev.stoker.formats.json;
