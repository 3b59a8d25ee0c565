/**
 * Parquet files as rows. The footer is parsed by parquet-java; pages are decoded here, a batch of values at a time,
 * with bounds on everything that a file declares. Knows neither Hadoop nor file systems.
 */
package dev.stoker.formats.parquet;
