/** Batches from feeders: connections, failover, flow control and receipts. Internal. */
package dev.stoker.client.feeder;
