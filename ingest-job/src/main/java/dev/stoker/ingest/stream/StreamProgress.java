package dev.stoker.ingest.stream;

import java.time.Duration;

/**
 * How far an ingest of a topic has come.
 *
 * @param versions that it has committed
 * @param newestVersion the newest of them; 0 for none
 * @param samples packed, committed or not
 * @param bytes of their records
 * @param deadLetters records that could not become samples
 * @param lag records of the topic that were not read yet, by offsets
 * @param elapsed since the job was submitted
 */
public record StreamProgress(
        long versions, long newestVersion, long samples, long bytes, long deadLetters, long lag, Duration elapsed) {}
