/**
 * Passes acknowledgements of trainers to the ledger, in one bounded table per node that the readers of the process
 * drain. One lock guards the table. Data for trainers never waits for this lock.
 */
package dev.stoker.feeder.node.ack;
