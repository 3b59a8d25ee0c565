/**
 * Checks of topics and brokers, and single reads, before and beside a job. All calls wait for brokers. This package has
 * no threads.
 */
package dev.stoker.connectors.kafka.topic;
