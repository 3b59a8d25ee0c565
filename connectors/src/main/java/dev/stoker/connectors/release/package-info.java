/**
 * Clean-up when Flink unloads the code of a job, so that nothing of it remains in a process that other jobs also use.
 * Independent of the jobs.
 */
package dev.stoker.connectors.release;
