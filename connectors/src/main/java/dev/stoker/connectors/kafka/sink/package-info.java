/**
 * The sink of records to a topic, built by {@link dev.stoker.connectors.kafka.sink.KafkaSinks}. Writer and committer
 * are Kafka's own; the wrappers here never treat an aborted transaction as written. They run on the task's thread.
 */
package dev.stoker.connectors.kafka.sink;
