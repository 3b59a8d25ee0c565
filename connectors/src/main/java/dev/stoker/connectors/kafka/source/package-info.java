/**
 * A topic as a Flink source of committed records, built by {@link dev.stoker.connectors.kafka.source.KafkaSources}, and
 * a description of the topic. Split, enumerator and reader are Kafka's own; the wrappers here end a job if brokers
 * refuse a request permanently. This package has no threads.
 */
package dev.stoker.connectors.kafka.source;
