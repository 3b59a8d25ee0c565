/**
 * Columns of Parquet as values of fields: scalars, lists and payloads.
 */
package dev.stoker.formats.parquet.column;
