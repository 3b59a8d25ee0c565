/**
 * Topics that a feed writes: their records as Flink values, the sink, and the checks of topic and brokers before the
 * first record. Calls to {@link dev.stoker.connectors.kafka.TopicCheck} and {@link
 * dev.stoker.connectors.kafka.TopicReader} wait for brokers. This package has no threads.
 */
package dev.stoker.connectors.kafka;
