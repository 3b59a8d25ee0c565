/**
 * The sink of an ingest. One writer collects the chunks of the parallel packing tasks, and one committer publishes them
 * as one version, or as one version for each checkpoint of a stream. Chunks are written, and durable, before they are
 * reported here.
 *
 * <p>Runs only on Flink's task threads and starts none. Independent of the source of samples.
 */
package dev.stoker.connectors.chunks;
