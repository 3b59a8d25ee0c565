/**
 * The Flink batch job that packs samples into chunks and commits one version: its options, its plan, its graph. It runs
 * embedded in the command line or on a cluster, with the same options.
 *
 * <p>{@link dev.stoker.ingest.IngestJob#run} blocks its caller's thread; a packing task reads and writes with its own
 * threads. This package does not serve trainers.
 */
package dev.stoker.ingest;
