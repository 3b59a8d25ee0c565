package dev.stoker.ingest.topic;

import java.util.List;

/**
 * The progress of a topic ingest.
 *
 * @param versions number of committed versions
 * @param newestVersion the newest of them; 0 for none
 * @param samples packed, committed or not
 * @param bytes of their records
 * @param deadLetters records that could not become samples
 * @param leftOut records that were left out
 * @param lag unread records of the topic, by offsets
 * @param bytesPerSecond of the records of the last seconds
 * @param waitsFor services that are unavailable at present, and transactions that hide records
 */
public record TopicIngestProgress(
        long versions,
        long newestVersion,
        long samples,
        long bytes,
        long deadLetters,
        long leftOut,
        long lag,
        double bytesPerSecond,
        List<String> waitsFor) {
    public TopicIngestProgress {
        waitsFor = List.copyOf(waitsFor);
    }
}
