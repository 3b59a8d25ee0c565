package dev.stoker.export;

import java.time.Duration;
import java.util.Optional;

/**
 * The progress of an export.
 *
 * @param rows samples that were read
 * @param allRows samples to read
 * @param bytes of the samples that are exported
 * @param elapsed since the job's tasks began; zero if they have not
 */
public record ExportProgress(long rows, long allRows, long bytes, Duration elapsed) {
    /** Returns the bytes that are exported each second. */
    public double bytesPerSecond() {
        return elapsed.isZero() ? 0 : bytes / (elapsed.toNanos() / 1e9);
    }

    /** Returns the estimated time until everything is exported; empty without a basis for an estimate. */
    public Optional<Duration> remaining() {
        if (rows == 0) {
            return Optional.empty();
        }
        return Optional.of(Duration.ofMillis((long) (elapsed.toMillis() * ((allRows - rows) / (double) rows))));
    }
}
