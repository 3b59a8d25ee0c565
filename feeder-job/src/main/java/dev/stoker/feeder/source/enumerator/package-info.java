/**
 * The coordinator's side of the lane source: which reader owns which lane, the lane map, and the end of the job. All
 * of it runs on Flink's coordinator thread. It knows nothing of sockets, chunks or batches.
 */
package dev.stoker.feeder.source.enumerator;
