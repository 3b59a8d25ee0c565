/**
 * The reader of the lane source: it keeps the process's {@link dev.stoker.server.FeedNode} alive, turns
 * acknowledgements into ledger records, and tells trainers when these are durable. Flink's mailbox thread owns all
 * state in this package. The node calls it only through futures. This package uses no sockets, chunks or batches.
 */
package dev.stoker.feeder.source.reader;
