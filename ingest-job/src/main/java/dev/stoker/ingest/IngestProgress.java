package dev.stoker.ingest;

import java.time.Duration;
import java.util.Optional;

/**
 * The progress of an ingest.
 *
 * @param phase the present activity
 * @param listedFiles samples found so far; final once packing has begun
 * @param listedBytes their size
 * @param samples packed so far
 * @param bytes of these samples
 * @param chunks written and durable
 * @param elapsed since the job's tasks began
 */
public record IngestProgress(
        Phase phase, long listedFiles, long listedBytes, long samples, long bytes, long chunks, Duration elapsed) {

    /** The present activity. */
    public enum Phase {
        STARTING,
        LISTING,
        /** Rows are read and sorted, and none is packed yet. */
        READING,
        PACKING,
        COMMITTING
    }

    /** Returns the progress of an ingest of rows, which lists nothing in its tasks. */
    IngestProgress ofRows() {
        return phase == Phase.LISTING
                ? new IngestProgress(Phase.READING, listedFiles, listedBytes, samples, bytes, chunks, elapsed)
                : this;
    }

    /** Bytes packed each second since packing began. */
    public double bytesPerSecond() {
        return elapsed.isZero() ? 0 : bytes / (elapsed.toNanos() / 1e9);
    }

    /** Estimated time until everything is packed; empty without a basis for an estimate. */
    public Optional<Duration> remaining() {
        if (phase != Phase.PACKING || bytes == 0) {
            return Optional.empty();
        }
        return Optional.of(Duration.ofMillis((long) ((listedBytes - bytes) / bytesPerSecond() * 1e3)));
    }
}
