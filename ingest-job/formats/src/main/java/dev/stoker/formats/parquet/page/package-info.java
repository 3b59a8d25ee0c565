/**
 * Pages of Parquet and their decoders, which check every length that a file declares.
 */
package dev.stoker.formats.parquet.page;
