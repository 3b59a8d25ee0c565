/**
 * Says which failures are final, waits for those that pass, and limits restarts. Everything that ends a job or keeps it going after a
 * failure asks here. Knows stores and Kafka's errors, and nothing of what jobs do.
 */
package dev.stoker.connectors.failure;
