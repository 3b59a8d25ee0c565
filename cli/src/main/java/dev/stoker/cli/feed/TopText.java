package dev.stoker.cli.feed;

import dev.stoker.cli.output.Style;
import dev.stoker.cli.output.Style.Tone;
import dev.stoker.cli.output.Table;
import dev.stoker.schemas.text.Units;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What {@code stoker top} shows of a feed that serves trainers: whether data is the limit, tiers, progress, and the
 * trainers that wait longest. The feeder's page has the same limits.
 */
final class TopText {
    /** Up to this share of waiting, data is not the limit. */
    private static final double FAIR = 0.02;
    /** From this share on, it is. */
    private static final double LIMIT = 0.1;
    /** More trainers of a group are folded. */
    private static final int SHOWN = 10;

    private static final int WAIT_COLUMNS = 10;
    private static final int PROGRESS_COLUMNS = 20;

    private static final Map<String, String> CAUSES = Map.of(
            "start", "start of an epoch",
            "origin", "origin: the dataset's store",
            "disk", "disk of the feeder's machine",
            "network", "network, or the receiving process",
            "feeder", "feeder: its processor",
            "corrupt", "corrupt: damaged and sent again",
            "connect", "connect: no feeder answers",
            "decoding", "decoding in the trainer");

    private final Style style;

    TopText(Style style) {
        this.style = style;
    }

    /**
     * Returns the lines of a feed.
     *
     * @param head name and age of the feed
     */
    String of(String head, FeedRates rates) {
        StringWriter text = new StringWriter();
        PrintWriter out = new PrintWriter(text);
        out.println(style.paint(Tone.TITLE, head) + rate(rates.samplesPerSecond()) + " samples/s   "
                + Units.rate(rates.bytesPerSecond()) + "   " + Units.plural(rates.ranks(), "rank"));
        out.println("  " + verdict(rates));
        rates.problems().forEach(problem -> out.println("  " + style.paint(Tone.BAD, problem)));
        for (FeedRates.Tier tier : rates.tiers()) {
            double share = (double) tier.used() / Math.max(1, tier.limit());
            out.println("  tier " + tier.name() + "   " + style.bar(share, PROGRESS_COLUMNS, Tone.GOOD) + " "
                    + Units.bytes(tier.used()) + " of " + Units.bytes(tier.limit()) + "   "
                    + percent((double) tier.hits() / Math.max(1, tier.hits() + tier.misses())) + " hits");
        }
        rates.groups().forEach(group -> print(group, out));
        return text.toString();
    }

    /** Says whether data is the limit. The trainer that waits longest decides, because ranks in step wait for it. */
    private String verdict(FeedRates rates) {
        if (!rates.problems().isEmpty()) {
            return style.paint(Tone.BAD, "The feed waits for a service, or cannot be watched");
        }
        if (rates.groups().isEmpty()) {
            return style.paint(Tone.SOFT, "No trainer has connected yet");
        }
        List<FeedRates.Rank> here = rates.groups().stream()
                .flatMap(group -> group.ranks().stream())
                .filter(FeedRates.Rank::connected)
                .toList();
        if (here.isEmpty()) {
            return style.paint(Tone.SOFT, "No trainer is connected");
        }
        FeedRates.Rank worst = here.stream()
                .max(Comparator.comparingDouble(FeedRates.Rank::waitShare))
                .orElseThrow();
        double share = worst.waitShare();
        if (share < 0) {
            return style.paint(Tone.SOFT, "Not known whether data is the limit: the clients do not report their waits");
        }
        if (share <= FAIR) {
            return style.paint(Tone.GOOD, "Data is not the limit") + ": no trainer waits"
                    + (share < 0.0005 ? "" : " more than " + percent(share));
        }
        String title = switch (tone(worst)) {
            case BAD -> worst.cause().equals("decoding") ? "Decoding is the limit" : "Data is the limit";
            default -> share <= LIMIT ? "Data slows training a little" : "Data slows training";
        };
        return style.paint(tone(worst), title) + ": rank " + worst.name() + " waits " + percent(share) + " of its time";
    }

    private void print(FeedRates.Group group, PrintWriter out) {
        double done = (double) group.next() / Math.max(1, group.batches());
        out.println(String.format(
                Locale.ROOT,
                "  %s/%s   version %,d   epoch %,d   %s batch %,d of %,d (%.0f %%)",
                group.stream(),
                group.name(),
                group.version(),
                group.epoch(),
                style.bar(done, PROGRESS_COLUMNS, Tone.GOOD),
                group.next(),
                group.batches(),
                100 * done));
        Table table = new Table("    RANK", "SAMPLES/S", "WAITS", "", "OVERALL", "CAUSE", "LONGEST FOR");
        List<FeedRates.Rank> sorted = group.ranks().stream()
                .sorted(Comparator.comparingDouble(TopText::notable).reversed())
                .toList();
        for (FeedRates.Rank rank : sorted.subList(0, Math.min(SHOWN, sorted.size()))) {
            double share = rank.waitShare();
            table.add(
                    "    " + rank.name(),
                    String.format(Locale.ROOT, "%9s", rank.connected() ? rate(rank.samplesPerSecond()) : "left"),
                    String.format(Locale.ROOT, "%7s", percent(share)),
                    style.bar(Math.max(0, share), WAIT_COLUMNS, tone(rank)),
                    String.format(Locale.ROOT, "%7s", percent(rank.waitShareOverall())),
                    cause(rank),
                    rank.where());
        }
        table.print(out);
        int folded = sorted.size() - SHOWN;
        if (folded > 0) {
            out.println(style.paint(
                    Tone.SOFT, "    and " + Units.plural(folded, "trainer") + " that wait less; --json shows all"));
        }
    }

    /** A share for the order of trainers. Small ones are equal, so that lines do not change places every second. */
    private static double notable(FeedRates.Rank rank) {
        return rank.waitShare() < FeedRates.NOTABLE ? 0 : Math.rint(100 * rank.waitShare());
    }

    /** A wait at the start of an epoch is soon over, and one without a known cause may be. */
    private static Tone tone(FeedRates.Rank rank) {
        if (rank.waitShare() <= FAIR) {
            return Tone.GOOD;
        }
        boolean lasts = !rank.cause().isEmpty() && !rank.cause().equals("start");
        return rank.waitShare() > LIMIT && lasts ? Tone.BAD : Tone.FAIR;
    }

    private String cause(FeedRates.Rank rank) {
        if (rank.waitShare() < 0) {
            return style.paint(Tone.SOFT, "not reported");
        }
        if (rank.cause().isEmpty()) {
            return rank.waitShare() <= FAIR
                    ? style.paint(Tone.GOOD, "none: the GPU is the limit")
                    : style.paint(tone(rank), "not known yet");
        }
        return style.paint(tone(rank), CAUSES.getOrDefault(rank.cause(), rank.cause()));
    }

    private static String rate(double perSecond) {
        return perSecond < 10 ? String.format(Locale.ROOT, "%.1f", perSecond) : Units.count(Math.round(perSecond));
    }

    private static String percent(double share) {
        return share < 0 ? "?" : String.format(Locale.ROOT, "%.1f %%", 100 * share);
    }
}
