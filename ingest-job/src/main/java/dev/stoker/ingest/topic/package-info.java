/**
 * The Flink streaming job that packs a topic's records into chunks and commits a version for each checkpoint: its
 * options, its plan, its job graph, and the conversion of records to samples.
 *
 * <p>{@link dev.stoker.ingest.topic.TopicIngestJob#run} blocks its caller's thread. A packing task decodes on its
 * mailbox thread and writes chunks with one separate thread. This package is independent of file trees.
 */
package dev.stoker.ingest.topic;
