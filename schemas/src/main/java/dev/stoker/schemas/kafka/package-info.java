/**
 * Records of a topic that a feed is written to: headers, values, and their order within a partition; {@code
 * docs/formats/kafka.md} is normative. Pure: no Kafka client, threads or files; any thread.
 */
package dev.stoker.schemas.kafka;
