package dev.stoker.cli.feed;

import dev.stoker.schemas.protocol.Stats;
import dev.stoker.server.feed.FeedStatus;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;

/** Formats a trainer's waits as one line, in the words of {@code Feed.report()}. */
final class StallLine {
    private static final int SHOWN = 3;
    private static final long LEAST_US = 50_000;

    private StallLine() {}

    static String of(FeedStatus.Rank rank, Stats stats) {
        StringBuilder line = new StringBuilder("rank ").append(rank.rank());
        if (rank.workers() > 1) {
            line.append(" worker ").append(rank.worker());
        }
        if (rank.replica() > 0) {
            line.append(" replica ").append(rank.replica());
        }
        line.append(String.format(
                Locale.ROOT,
                " waited %.1f s of %.1f s (%.0f %%)",
                stats.waitedUs() / 1e6,
                stats.timeUs() / 1e6,
                100.0 * stats.waitedUs() / Math.max(1, stats.timeUs())));
        List<Stats.Wait> waits = stats.waits().stream()
                .filter(wait -> wait.us() >= LEAST_US)
                .limit(SHOWN)
                .toList();
        StringJoiner parts = new StringJoiner("; ", ": ", "").setEmptyValue("");
        for (Stats.Wait wait : waits) {
            parts.add(String.format(
                    Locale.ROOT,
                    "%.1f s for %s lane %d, %s",
                    wait.us() / 1e6,
                    wait.feeder(),
                    wait.lane(),
                    wait.cause()));
        }
        return line.append(parts).toString();
    }
}
