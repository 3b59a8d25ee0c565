/**
 * Values of records: JSON, Avro or raw bytes as fields of a sample. The readers of {@code formats} decode them, by the
 * rules of files; here are the registry of schemas, the mapping of keys, times and headers, and dead letters.
 */
package dev.stoker.ingest.topic.value;
