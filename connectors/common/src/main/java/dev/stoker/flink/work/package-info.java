/**
 * Runs work on a dataset as a Flink job: its pieces are done by the tasks of a cluster, and the results come back to
 * the process that asked for them.
 */
package dev.stoker.flink.work;
