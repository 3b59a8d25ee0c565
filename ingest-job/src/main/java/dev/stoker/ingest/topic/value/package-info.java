/**
 * Values of records: JSON, Avro or raw bytes as fields of a sample.
 */
package dev.stoker.ingest.topic.value;
