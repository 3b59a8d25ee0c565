/**
 * Records of a topic that a feed writes: headers, values, and their order within a partition. {@code
 * docs/formats/kafka.md} is normative. Contains only pure functions, without Kafka client, threads or files. All static
 * methods are thread-safe.
 */
package dev.stoker.schemas.kafka;
