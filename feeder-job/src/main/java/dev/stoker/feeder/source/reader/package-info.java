/**
 * The reader's side of the lane source: it keeps the process's {@link dev.stoker.feeder.node.FeedNode} alive, turns what
 * trainers acknowledge into ledger records, and tells trainers when those are durable. Flink's mailbox thread owns all
 * state here; the node calls in only through futures. It knows nothing of sockets, chunks or batches.
 */
package dev.stoker.feeder.source.reader;
