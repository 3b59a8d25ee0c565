/**
 * What is done when Flink unloads the code of a job, so that nothing of it stays in a process that other jobs use, too. Knows
 * nothing of what jobs do.
 */
package dev.stoker.connectors.release;
