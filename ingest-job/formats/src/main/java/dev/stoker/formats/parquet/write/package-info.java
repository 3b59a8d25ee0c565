/**
 * Writes Parquet files: pages, encodings, statistics and the footer.
 */
package dev.stoker.formats.parquet.write;
