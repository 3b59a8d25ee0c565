/**
 * Classifies failures, waits for temporary ones, and limits restarts. All code that ends a job or keeps it running
 * after a failure uses this package. It knows stores and Kafka's errors, but not the jobs.
 */
package dev.stoker.connectors.failure;
