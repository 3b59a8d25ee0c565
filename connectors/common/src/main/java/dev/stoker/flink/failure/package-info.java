/**
 * Classifies failures as permanent or transient, waits until transient ones pass, and limits restarts. All code that
 * ends a job or retries after a failure uses this package. It handles errors of stores and of Kafka, and is independent
 * of the jobs.
 */
package dev.stoker.flink.failure;
