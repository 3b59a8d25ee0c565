/**
 * The ingest of files that hold rows: Parquet, Avro, JSON lines and others. A row becomes a sample. See {@link
 * dev.stoker.ingest.rows.RowIngestGraph} for the job.
 */
package dev.stoker.ingest.rows;
