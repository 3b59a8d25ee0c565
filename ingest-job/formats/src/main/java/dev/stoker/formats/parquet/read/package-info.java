/**
 * Reads Parquet files: footer, schema, rows and blocks of rows.
 */
package dev.stoker.formats.parquet.read;
