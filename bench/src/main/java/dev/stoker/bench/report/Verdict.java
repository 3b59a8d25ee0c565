package dev.stoker.bench.report;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The limit of one feed: the lowest roof over it.
 *
 * @param point the feed
 * @param limit the lowest roof; empty if no resource was measured
 * @param share of the roof that the feed reaches
 * @param isCertain whether the next roof is further away than the spread of the rounds
 */
public record Verdict(FeedPoint point, Optional<Roof> limit, double share, boolean isCertain) {

    /** Below this share of its lowest roof, no measured resource explains the rate of a feed. */
    private static final double FAR = 0.5;

    private static final double SMALL_SAMPLE = 16 << 10;

    static Verdict of(Roofline roofline, FeedPoint point) {
        List<Roof> over = roofline.over(point);
        Optional<Roof> lowest = Roof.lowest(over);
        if (lowest.isEmpty()) {
            return new Verdict(point, lowest, 0, false);
        }
        Roof limit = lowest.get();
        Optional<Roof> next =
                Roof.lowest(over.stream().filter(roof -> !roof.equals(limit)).toList());
        double noise = Math.max(limit.spread(), next.map(Roof::spread).orElse(0.0));
        boolean isCertain = next.isEmpty() || next.get().bytesPerSecond() > limit.bytesPerSecond() * (1 + noise);
        return new Verdict(point, lowest, point.bytesPerSecond() / limit.bytesPerSecond(), isCertain);
    }

    /** One or two sentences: the limit, and how far it is away. */
    public String text() {
        if (limit.isEmpty()) {
            return "No resource was measured beside this feed.";
        }
        Roof roof = limit.get();
        String certainty = isCertain ? "" : " Another roof is as low within the spread of the rounds.";
        if (share > 1.1) {
            return String.format(
                    Locale.ROOT,
                    "The lowest roof is %s, but the feed was faster (%s): it was not measured under the same"
                            + " conditions, for example because chunks were in the page cache.",
                    roof.name(),
                    Amounts.percent(share));
        }
        return String.format(
                Locale.ROOT,
                "The limit is %s: the feed reaches %s of it.%s",
                roof.name(),
                Amounts.percent(share),
                certainty);
    }

    /** What to change. */
    public String advice() {
        if (limit.isEmpty()) {
            return "Run stoker bench storage and stoker bench feed.";
        }
        if (share < FAR && point.isFirstEpoch()) {
            return "The first epoch is far below its roofs: the feeder's code is not compiled yet, and windows open one"
                    + " after the other. Measure a larger dataset, and fill the tiers with --warm before the training.";
        }
        if (share < FAR) {
            return point.sampleBytes() < SMALL_SAMPLE
                    ? "The feed is far below its roofs, because the work for each small sample is the limit: use larger"
                            + " batches and more consumers (ranks or loader workers) at a time, or larger samples."
                    : "The feed is far below its roofs: measure again on an idle machine, and with more consumers "
                            + "(ranks"
                            + " or loader workers) at a time, because one consumer receives in one thread.";
        }
        return switch (limit.get().resource()) {
            case STORAGE ->
                "Give the feeder tiers of faster storage or memory (--tier), so that only the first epoch"
                        + " reads the origin; fill them before the training with --warm; use more feeders, "
                        + "each of which"
                        + " reads its share; or use faster storage.";
            case PAGE_CACHE -> "Reads from the page cache are the limit: use more processors, or more feeders.";
            case NETWORK ->
                "Use a faster network, or run a feeder on the trainer's machine: it is read over a"
                        + " Unix-domain socket or with local reads.";
            case CPU ->
                "Use more or faster processors, or put feeder and trainer on different machines. On one machine,"
                        + " local reads save the feeder's share for samples of 16 KiB and more.";
            case MEMORY -> "Memory bandwidth is the limit: use more machines.";
        };
    }
}
