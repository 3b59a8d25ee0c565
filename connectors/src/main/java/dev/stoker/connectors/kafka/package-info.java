/**
 * Topics that a feed is written to: their records as Flink sees them, the sink, and what is asked of topic and brokers
 * before the first record. Whoever calls {@link dev.stoker.connectors.kafka.TopicCheck} or {@link
 * dev.stoker.connectors.kafka.TopicReader} waits for brokers; nothing here has threads of its own.
 */
package dev.stoker.connectors.kafka;
