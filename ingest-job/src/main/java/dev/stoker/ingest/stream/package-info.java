/**
 * The Flink streaming job that packs a topic's records into chunks and commits a version for each checkpoint: its options, its
 * plan, its graph, and how records become samples.
 *
 * <p>{@link dev.stoker.ingest.stream.StreamIngest#run} blocks its caller's thread. A packing task decodes on its
 * mailbox thread and writes chunks with separate threads. Independent of trees of files.
 */
package dev.stoker.ingest.stream;
