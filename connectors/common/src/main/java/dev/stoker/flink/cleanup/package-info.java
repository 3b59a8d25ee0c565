/**
 * Releases the resources of a job when Flink unloads its code, so that none of them remain in a process that other jobs
 * also use. This package is independent of the jobs.
 */
package dev.stoker.flink.cleanup;
