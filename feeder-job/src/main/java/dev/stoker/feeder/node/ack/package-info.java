/**
 * What trainers acknowledged, on its way into the ledger: one bounded table per node, drained by the readers of the process.
 * Its state is guarded by one lock; trainers' data never waits for it.
 */
package dev.stoker.feeder.node.ack;
