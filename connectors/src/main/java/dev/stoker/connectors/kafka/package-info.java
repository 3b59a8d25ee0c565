/**
 * Topics that a feed is written to: their records as Flink sees them, the sink, and the checks of topic and brokers
 * before the first record. Callers of {@link dev.stoker.connectors.kafka.TopicCheck} and {@link
 * dev.stoker.connectors.kafka.TopicReader} wait for brokers; this package starts no threads.
 */
package dev.stoker.connectors.kafka;
