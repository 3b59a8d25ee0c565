/** Batches from a Kafka topic. Internal. */
package dev.stoker.client.topic;
