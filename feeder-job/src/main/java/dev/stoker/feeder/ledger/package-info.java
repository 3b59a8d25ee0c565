/**
 * The feeder's ledger: turns acknowledgements into ledger records and writes them to the ledger's store with a sink,
 * one object for each checkpoint. The code runs on the mailbox threads of source and sink. One thread per task accesses
 * the store.
 */
package dev.stoker.feeder.ledger;
