package dev.stoker.metadata.version;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.UnknownVersionException;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;

/** Finds versions by the time of their commit. Stateless. */
public final class VersionTimes {

    private VersionTimes() {}

    /**
     * Parses what people type as {@code --as-of}: a date (its first moment), a local time, a time with an offset, or a
     * time ago.
     *
     * @throws IllegalArgumentException if the text is none of these
     */
    public static Instant parse(String text, InstantSource clock, ZoneId zone) {
        try {
            if (text.indexOf('-') < 0) {
                return clock.instant().minus(Units.parseTime("--as-of", text));
            }
            if (text.indexOf('T') < 0) {
                return LocalDate.parse(text).atStartOfDay(zone).toInstant();
            }
            boolean hasOffset =
                    text.endsWith("Z") || text.lastIndexOf('+') > 0 || text.lastIndexOf('-') > text.indexOf('T');
            return hasOffset
                    ? OffsetDateTime.parse(text).toInstant()
                    : LocalDateTime.parse(text).atZone(zone).toInstant();
        } catch (DateTimeException | IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "option --as-of: '" + text + "' is not a time such as 2026-11-20, 2026-11-20T10:00:00Z or 7d", e);
        }
    }

    /** As {@link #parse(String, InstantSource, ZoneId)}, with the clock and the time zone of this machine. */
    public static Instant parse(String text) {
        return parse(text, InstantSource.system(), ZoneId.systemDefault());
    }

    /**
     * Returns the newest version that was committed at a time or before. Commit times come from the clocks of the
     * writers. The search assumes that they ascend. It reads as many log entries as the number of versions has bits.
     *
     * @throws UnknownVersionException if there is none
     */
    public static long find(Dataset dataset, Instant time) throws IOException {
        long newest = dataset.latestVersion();
        if (newest == 0) {
            throw new UnknownVersionException(dataset.where(), 0, 0);
        }
        long found = search(dataset, time, newest);
        if (found == 0) {
            throw new UnknownVersionException(
                    dataset.where(),
                    time,
                    Instant.ofEpochMilli(dataset.entry(1, newest).committedMs()));
        }
        return found;
    }

    /** Returns the newest version that was committed at a time or before; 0 if there is none. */
    public static long newestAt(Dataset dataset, Instant time) throws IOException {
        return search(dataset, time, dataset.latestVersion());
    }

    private static long search(Dataset dataset, Instant time, long newest) throws IOException {
        long low = 0;
        long high = newest;
        while (low < high) {
            long middle = low + (high - low + 1) / 2;
            if (dataset.entry(middle, newest).committedMs() <= time.toEpochMilli()) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return low;
    }
}
