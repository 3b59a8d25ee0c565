/**
 * Columns that the place of a file gives, as in the partitioned trees of Hive, Spark and pyarrow: {@code
 * day=2026-01-31/part-0.parquet}. Depends on the parent package and on {@code values}; it starts no threads.
 */
package dev.stoker.formats.partition;
