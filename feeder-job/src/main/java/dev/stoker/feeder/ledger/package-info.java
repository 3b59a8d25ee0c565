/**
 * The feeder's ledger: what trainers acknowledge becomes ledger records, which Flink's file sink writes and publishes
 * with its checkpoints. Runs on the mailbox threads of source and sink.
 */
package dev.stoker.feeder.ledger;
