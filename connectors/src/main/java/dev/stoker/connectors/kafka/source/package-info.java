/**
 * A topic as a Flink source of committed records, built by {@link dev.stoker.connectors.kafka.source.KafkaSources}, and
 * a description of the topic. Split and enumerator are Kafka's own, and so is the reading of splits; the reader hands
 * on whole fetches instead of single records. The wrappers here end a job if brokers refuse a request permanently. Each
 * reader has one fetcher thread.
 */
package dev.stoker.connectors.kafka.source;
