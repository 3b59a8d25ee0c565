/**
 * The enumerator of the lane source: it assigns lanes to readers, publishes the lane map and ends the job. All of it
 * runs on Flink's coordinator thread. This package uses no sockets, chunks or batches.
 */
package dev.stoker.feeder.source.enumerator;
