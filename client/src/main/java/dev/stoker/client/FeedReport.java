package dev.stoker.client;

import dev.stoker.client.stats.FeedStats;
import dev.stoker.client.stats.Waits;
import dev.stoker.schemas.text.Units;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/**
 * A report on the time that a trainer waited, as text and for Prometheus; the same as the Python package's.
 *
 * @param labels feed, stream and reader
 * @param stats at one moment
 */
public record FeedReport(Map<String, String> labels, FeedStats stats) {
    private static final int SHOWN = 3;
    private static final double WORTH_SHOWING_S = 0.05;
    private static final double WORTH_ADVICE = 0.02;
    private static final Map<String, String> ADVICE = Map.of(
            Waits.START,
            "connecting and reading the first window of an epoch: a smaller shuffle window starts sooner",
            Waits.ORIGIN,
            "the dataset's store is the limit: move the dataset nearer, or feed from more machines",
            Waits.DISK,
            "the disk of the feeder's machine is the limit: use a faster disk, more memory for its cache, or more"
                    + " feeders",
            Waits.NETWORK,
            "the network between feeder and trainer is the limit: check its load, or move the feeder nearer",
            Waits.FEEDER,
            "the feeder's processor is the limit: give it more cores, or feed from more machines",
            Waits.CORRUPT,
            "messages arrived damaged and were sent again: run stoker verify, check memory and network",
            Waits.CONNECT,
            "no feeder could be reached: check stoker ps and the feeder's log",
            Waits.KAFKA,
            "the topic is the limit: check its brokers, and whether the feed waits for another of its"
                    + " --throttle-groups");

    private String label(String name) {
        return Objects.requireNonNull(labels.get(name), "all labels are set");
    }

    /** A few lines: how long the trainer waited, for which feeder, and possible remedies. */
    public String text() {
        String worker = label("worker").equals("0") ? "" : " worker " + label("worker");
        double elapsed = seconds(stats.elapsed());
        List<String> parts = new ArrayList<>();
        stats.stalls().stream()
                .limit(SHOWN)
                .filter(stall -> seconds(stall.waited()) >= WORTH_SHOWING_S)
                .forEach(stall -> parts.add(format(
                        "%.1f s for %s lane %d, %s",
                        seconds(stall.waited()), stall.feeder(), stall.lane(), stall.cause())));
        StringBuilder text = new StringBuilder(format(
                "rank %s%s waited %.1f s of %.1f s (%.0f %%)",
                label("rank"), worker, seconds(stats.waited()), elapsed, 100 * stats.waitShare()));
        if (!parts.isEmpty()) {
            text.append(": ").append(String.join("; ", parts));
        }
        double share = elapsed > 0 ? elapsed : 1;
        text.append(format(
                "\n  %s, %s: %.0f a second, %.1f MB/s",
                Units.plural(stats.batches(), "batch"),
                Units.plural(stats.samples(), "sample"),
                stats.samples() / share,
                stats.bytes() / share / 1e6));
        if (stats.waitShare() >= WORTH_ADVICE && !stats.causes().isEmpty()) {
            String main = stats.causes().keySet().iterator().next();
            text.append(format("\n  mostly %s: %s", main, ADVICE.getOrDefault(main, "see docs/operations.md")));
        } else if (elapsed > 0) {
            text.append(format("\n  the trainer is the limit: its data arrives before it asks"));
        }
        return text.toString();
    }

    /**
     * In Prometheus' text exposition format, version 0.0.4. Not with a client library: all are counters, and trainers
     * would have to agree on its version.
     */
    public String prometheus() {
        StringBuilder page = new StringBuilder();
        counter(page, "stoker_batches_total", "Batches handed to the trainer.", stats.batches());
        counter(page, "stoker_samples_total", "Samples handed to the trainer.", stats.samples());
        counter(page, "stoker_bytes_total", "Bytes of the samples handed to the trainer.", stats.bytes());
        counter(page, "stoker_seconds_total", "Seconds since the first batch was requested.", seconds(stats.elapsed()));
        if (!stats.causes().isEmpty()) {
            head(page, "stoker_wait_seconds_total", "Seconds that the trainer waited, by cause.");
            stats.causes()
                    .forEach((cause, waited) ->
                            line(page, "stoker_wait_seconds_total", Map.of("cause", cause), seconds(waited)));
            head(
                    page,
                    "stoker_feeder_wait_seconds_total",
                    "Seconds that the trainer waited, by feeder, lane and cause.");
            for (FeedStats.Stall stall : stats.stalls()) {
                Map<String, String> where = new LinkedHashMap<>();
                where.put("feeder", stall.feeder());
                where.put("lane", Integer.toString(stall.lane()));
                where.put("cause", stall.cause());
                line(page, "stoker_feeder_wait_seconds_total", where, seconds(stall.waited()));
            }
        }
        counter(page, "stoker_reconnects_total", "Connections that were lost and restored.", stats.reconnects());
        counter(
                page,
                "stoker_failovers_total",
                "Lanes that moved to another feeder after a failure.",
                stats.failovers());
        counter(page, "stoker_corrupt_pieces_total", "Pieces that arrived damaged.", stats.corruptPieces());
        return page.toString();
    }

    private void counter(StringBuilder page, String name, String help, Number value) {
        head(page, name, help);
        line(page, name, Map.of(), value);
    }

    private static void head(StringBuilder page, String name, String help) {
        page.append("# HELP ").append(name).append(' ').append(help).append('\n');
        page.append("# TYPE ").append(name).append(" counter\n");
    }

    private void line(StringBuilder page, String name, Map<String, String> more, Number value) {
        Map<String, String> all = new LinkedHashMap<>(labels);
        all.putAll(more);
        List<String> pairs = new ArrayList<>();
        all.forEach((key, label) -> pairs.add(key + "=\"" + escaped(label) + "\""));
        page.append(name).append('{').append(String.join(",", pairs)).append("} ");
        page.append(value).append('\n');
    }

    private static String escaped(String label) {
        return label.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() / 1e9;
    }

    private static String format(String pattern, Object... values) {
        return String.format(Locale.ROOT, pattern, values);
    }
}
