/**
 * The sinks that commit chunks to a dataset: {@link dev.stoker.connectors.dataset.sink.ChunkSink} as one version at the
 * end of the input, {@link dev.stoker.connectors.dataset.sink.TopicChunkSink} as one version for each checkpoint. One
 * writer collects the reports of the parallel packing tasks, and one committer commits them. Chunks are durable before
 * their tasks report them. {@link dev.stoker.connectors.dataset.sink.StokerSink} also packs the chunks, for any job.
 * The code runs only on Flink's task threads and starts none.
 */
package dev.stoker.connectors.dataset.sink;
