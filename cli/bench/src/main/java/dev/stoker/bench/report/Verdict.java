package dev.stoker.bench.report;

import dev.stoker.schemas.text.Units;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The limit of one feed: the lowest roof over it.
 *
 * @param point the feed
 * @param limit the lowest roof; empty if no resource was measured
 * @param share of the roof that the feed reaches
 * @param certainty whether the next roof is further away than the spread of the rounds
 */
public record Verdict(FeedPoint point, Optional<Roof> limit, double share, Certainty certainty) {

    /** Whether the rounds tell the limit apart from the other roofs. */
    public enum Certainty {
        CERTAIN,
        /** Another roof is within the spread of the rounds. */
        WITHIN_SPREAD,
        /** The feed or a roof was measured once. */
        UNKNOWN_SPREAD
    }

    /** Below this share of its lowest roof, no measured resource explains the rate of a feed. */
    private static final double FAR = 0.5;

    /** Above this share, roof and feed were not measured under the same conditions. */
    private static final double ABOVE = 1.1;
    /** Rounds with a greater spread cannot be compared. */
    private static final double NOISY = 0.2;

    private static final double SMALL_SAMPLE = 16 << 10;

    static Verdict of(Roofline roofline, FeedPoint point) {
        List<Roof> over = roofline.over(point);
        Optional<Roof> lowest = Roof.lowest(over);
        if (lowest.isEmpty()) {
            return new Verdict(point, lowest, 0, Certainty.UNKNOWN_SPREAD);
        }
        return new Verdict(
                point,
                lowest,
                point.bytesPerSecond() / lowest.get().bytesPerSecond(),
                certainty(point, lowest.get(), over));
    }

    private static Certainty certainty(FeedPoint point, Roof limit, List<Roof> over) {
        if (Stream.concat(Stream.of(point.spread()), over.stream().map(Roof::spread))
                .anyMatch(spread -> Double.isNaN(spread))) {
            return Certainty.UNKNOWN_SPREAD;
        }
        return over.stream()
                        .filter(roof -> !roof.equals(limit))
                        .allMatch(roof -> roof.bytesPerSecond()
                                > limit.bytesPerSecond() * (1 + Math.max(limit.spread(), roof.spread())))
                ? Certainty.CERTAIN
                : Certainty.WITHIN_SPREAD;
    }

    public boolean isCertain() {
        return certainty == Certainty.CERTAIN;
    }

    /** Whether the lowest roof explains the rate of the feed: the feed is neither far below nor above it. */
    public boolean isExplained() {
        return limit.isPresent() && share >= FAR && !isAbove();
    }

    private boolean isAbove() {
        return share > ABOVE && !limit.map(Roof::isGiven).orElse(false);
    }

    /** One sentence: the limit, or that no measured resource is it. */
    public String headline() {
        if (limit.isEmpty()) {
            return "The limit of " + point.name() + " is unknown, because no resource was measured";
        }
        String resource = limit.get().resource() + " (" + Units.rate(limit.get().bytesPerSecond()) + ")";
        if (!isExplained()) {
            return isAbove()
                    ? "The limit of " + point.name() + " is unknown: it was faster than its lowest roof, " + resource
                    : "No measured resource is the limit of " + point.name() + ": it reaches " + Amounts.percent(share)
                            + " of its lowest roof, " + resource;
        }
        return "The limit of " + point.name() + " is " + (isCertain() ? "" : "probably ") + resource + ": it reaches "
                + Amounts.percent(share) + " of it";
    }

    /** Some sentences: the limit, how far it is away, and whether the rounds allow such a comparison. */
    public String text() {
        if (limit.isEmpty()) {
            return "No resource was measured beside this feed.";
        }
        Roof roof = limit.get();
        String reached = Amounts.percent(share);
        String of = roof.name() + " (" + Units.rate(roof.bytesPerSecond()) + ")";
        String noise = noise(roof);
        if (isAbove()) {
            return "The lowest roof is " + of + ", but the feed was faster (" + reached + " of it): "
                    + (roof.resource() == Roof.Resource.STORAGE
                            ? "its chunks were probably in the page cache, or in a cache of the store."
                            : "the machine was slower when the roof was measured.")
                    + noise;
        }
        if (share < FAR) {
            return "No measured resource is the limit: the feed reaches " + reached + " of its lowest roof, " + of + "."
                    + noise;
        }
        return "The limit is " + of + ": the feed reaches " + reached + " of it"
                + (share > ABOVE ? " on the loopback of this machine." : ".") + noise;
    }

    private String noise(Roof roof) {
        String certain = switch (certainty) {
            case CERTAIN -> "";
            case WITHIN_SPREAD -> " Another roof is as low within the spread of the rounds.";
            case UNKNOWN_SPREAD ->
                " The spread is unknown, because the feed or a roof was measured once: measure again, and compare.";
        };
        double spread = Stream.of(roof.spread(), point.spread())
                .filter(one -> !Double.isNaN(one))
                .max(Double::compare)
                .orElse(0.0);
        return certain
                + (spread > NOISY
                        ? " The rounds spread by " + Amounts.percent(spread) + ": measure again on an idle machine."
                        : "");
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
        if (isAbove()) {
            return limit.get().resource() == Roof.Resource.STORAGE
                    ? "Measure a larger dataset, or one that was not read for a while, so that its chunks come from the"
                            + " storage."
                    : "Measure again on an idle machine.";
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
                point.sampleBytes() < SMALL_SAMPLE
                        ? "Each sample costs processor time: use larger batches, larger samples, or more or faster"
                                + " processors."
                        : "Use more or faster processors, or put feeder and trainer on different machines. On one"
                                + " machine, local reads save the feeder's share.";
            case MEMORY -> "Memory bandwidth is the limit: use more machines.";
        };
    }
}
