/**
 * A feed that writes its batches to a topic: a source whose splits are lanes and whose records are those of the topic,
 * forward-connected to Kafka's sink. A lane's state is the place of its next record, so the source is an ordinary
 * replayable one. Each reader has one thread that builds records ahead, within a few megabytes, and one that looks after
 * the consumers' progress where the feed is paced; the task's own thread waits for neither. Where records are written in transactions, the
 * first of these threads looks what the topic has before a lane goes on.
 */
package dev.stoker.feeder.kafka;
