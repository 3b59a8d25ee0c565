/**
 * A feed that writes its batches to a topic: a source whose splits are lanes and whose records are the topic's records,
 * forward-connected to Kafka's sink.
 *
 * <p>The state of a lane is the position of its next record, so the source is an ordinary replayable source. Each
 * reader has one thread that builds records ahead, within a few megabytes, and one that watches the progress of the
 * consumers if the feed is throttled. The task's own thread waits for neither. If records are written in transactions,
 * the first of these threads checks the content of the topic before a lane resumes.
 */
package dev.stoker.feeder.topic;
