/**
 * The feeder's ledger: what trainers acknowledge becomes ledger records, which a sink of our own writes to the ledger's store,
 * one object a checkpoint. Runs on the mailbox threads of source and sink; one thread a task talks to the store.
 */
package dev.stoker.feeder.ledger;
