/**
 * The sink of an ingest: one writer collects the reports of the parallel packing tasks, and one committer commits them
 * as one version, or as one version for each checkpoint of a stream. Chunks are written and durable before their tasks
 * report them.
 *
 * <p>The code runs only on Flink's task threads and starts none. This package is independent of the source of the
 * samples.
 */
package dev.stoker.connectors.dataset;
