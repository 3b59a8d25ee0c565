/**
 * The sink of an ingest: what parallel packing tasks have written is gathered by one writer and published by one committer
 * as one version, or as one version for each checkpoint of a stream. Chunks themselves are written, and durable, before they
 * are reported here.
 *
 * <p>Runs on Flink's task threads only; starts none. Knows nothing of where samples come from.
 */
package dev.stoker.connectors.chunks;
