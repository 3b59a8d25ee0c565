package dev.stoker.ingest.topic;

import java.time.Duration;
import java.util.List;

/**
 * The progress of a topic ingest.
 *
 * @param versions number of committed versions
 * @param newestVersion the newest of them; 0 for none
 * @param samples packed, committed or not
 * @param bytes of their records
 * @param deadLetters records that could not become samples
 * @param lag unread records of the topic, by offsets
 * @param elapsed since the job was submitted
 * @param waitsFor services that are unavailable at present
 */
public record TopicIngestProgress(
        long versions,
        long newestVersion,
        long samples,
        long bytes,
        long deadLetters,
        long lag,
        Duration elapsed,
        List<String> waitsFor) {
    public TopicIngestProgress {
        waitsFor = List.copyOf(waitsFor);
    }
}
