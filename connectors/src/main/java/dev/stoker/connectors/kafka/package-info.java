/**
 * What the source and the sink of topics share: locations of topics, records as Flink values, and failures of brokers
 * as messages with the next step. This package has no threads.
 */
package dev.stoker.connectors.kafka;
