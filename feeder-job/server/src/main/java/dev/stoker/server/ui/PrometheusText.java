package dev.stoker.server.ui;

import dev.stoker.schemas.protocol.Stats;
import dev.stoker.server.feed.FeedStatus;
import dev.stoker.server.feed.LookedUp;
import dev.stoker.server.feed.NodeMetrics;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes a status in Prometheus' text exposition format, version 0.0.4. Not with a client library: a library keeps
 * registered metrics and their labels, while the status is a new value for each request, whose groups come and go.
 */
final class PrometheusText {
    static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    /** One metric with its values; a page names each once. */
    private static final class Metric {
        final String head;
        final List<String> lines = new ArrayList<>();

        Metric(String head) {
            this.head = head;
        }
    }

    private final Map<String, Metric> metrics = new LinkedHashMap<>();

    private PrometheusText() {}

    static String of(FeedStatus status) {
        PrometheusText text = new PrometheusText();
        text.totals(status);
        for (FeedStatus.Group group : status.groups()) {
            text.group(status.name(), group);
        }
        StringBuilder page = new StringBuilder();
        for (Metric metric : text.metrics.values()) {
            page.append(metric.head);
            metric.lines.forEach(page::append);
        }
        return page.toString();
    }

    private void totals(FeedStatus status) {
        NodeMetrics totals = status.totals();
        String[] feed = {"feed", status.name()};
        counter("stoker_feeder_messages_total", "Messages sent to trainers.", totals.batches(), feed);
        counter("stoker_feeder_samples_total", "Samples sent to trainers.", totals.rows(), feed);
        counter("stoker_feeder_bytes_total", "Bytes sent to trainers.", totals.bytes(), feed);
        counter(
                "stoker_feeder_used_samples_total",
                "Samples that trainers acknowledged.",
                totals.used().rows(),
                feed);
        counter(
                "stoker_feeder_used_bytes_total",
                "Bytes of acknowledged samples, estimated from the average size of the samples sent.",
                totals.used().bytes(),
                feed);
        counter("stoker_feeder_origin_reads_total", "Reads from the dataset's store.", totals.originReads(), feed);
        counter(
                "stoker_feeder_origin_read_bytes_total",
                "Bytes read from the dataset's store.",
                totals.originBytes(),
                feed);
        counter(
                "stoker_feeder_origin_metadata_total",
                "Other calls to the dataset's store: listings, lengths, reads of the log.",
                totals.originMetadata(),
                feed);
        counter("stoker_feeder_rejected_total", "Rejected connections.", totals.rejected(), feed);
        counter("stoker_feeder_nacks_total", "Messages that trainers found damaged.", totals.nacks(), feed);
        counter("stoker_feeder_refetches_total", "Messages sent again.", totals.refetches(), feed);
        counter(
                "stoker_feeder_corrupt_total",
                "Rows or chunks that are damaged in the dataset's store.",
                totals.corrupt(),
                feed);
        LookedUp lookedUp = totals.lookedUp();
        counter("stoker_feeder_lookups_total", "Requests for single samples.", lookedUp.requests(), feed);
        counter("stoker_feeder_lookup_keys_total", "Keys of these requests.", lookedUp.keys(), feed);
        counter("stoker_feeder_lookup_bytes_total", "Bytes of their answers.", lookedUp.bytes(), feed);
        gauge("stoker_feeder_sessions", "Current connections of trainers.", totals.sessions(), feed);
        gauge("stoker_feeder_open_windows", "Open windows in memory.", totals.openWindows(), feed);
        gauge("stoker_feeder_pending_receipts", "Receipts that are not yet durable.", totals.pendingReceipts(), feed);
        gauge("stoker_feeder_lanes", "Lanes that this feeder owns.", totals.lanes(), feed);
        gauge(
                "stoker_feed_lanes",
                "Lanes of the feed. All feeders together own them.",
                status.whole().lanes(),
                feed);
        gauge(
                "stoker_feeder_trainer_wait_ratio",
                "Share of their time in which trainers had no data left to consume.",
                totals.trainerWaitRatio(),
                feed);
        for (FeedStatus.Tier tier : status.tiers()) {
            String[] labels = {"feed", status.name(), "tier", tier.name(), "unit", tier.unit()};
            gauge("stoker_feeder_tier_used", "Used space of a tier.", tier.used(), labels);
            gauge("stoker_feeder_tier_limit", "Quota of a tier.", tier.limit(), labels);
            tier.cache().ifPresent(cache -> cache(cache, "feed", status.name(), "tier", tier.name()));
        }
    }

    private void cache(FeedStatus.Cache cache, String... labels) {
        counter("stoker_feeder_tier_hits_total", "Requested chunks that the tier had.", cache.hits(), labels);
        counter(
                "stoker_feeder_tier_misses_total",
                "Requested chunks that the tier did not have.",
                cache.misses(),
                labels);
        counter(
                "stoker_feeder_tier_loads_total",
                "Chunks that were placed, or found after a restart and verified.",
                cache.loads(),
                labels);
        counter(
                "stoker_feeder_tier_load_seconds_total",
                "Seconds spent placing chunks in a tier.",
                cache.loadNanos() / 1e9,
                labels);
        counter("stoker_feeder_tier_failures_total", "Failures of a tier's disk or memory.", cache.failures(), labels);
        gauge(
                "stoker_feeder_tier_off",
                "1 if a tier takes no more chunks.",
                cache.off().isEmpty() ? 0 : 1,
                labels);
    }

    private void group(String feed, FeedStatus.Group group) {
        String[] labels = {"feed", feed, "stream", group.stream(), "group", group.name()};
        gauge("stoker_group_epoch", "Current epoch of the group.", group.epoch(), labels);
        gauge(
                "stoker_group_position",
                "Batches of the current epoch that the group has consumed.",
                group.next(),
                labels);
        gauge("stoker_group_batches", "Batches per epoch.", group.batches(), labels);
        gauge(
                "stoker_group_epochs",
                "Epochs after which the group is done; 0 for no end.",
                group.epochs().orElse(0),
                labels);
        gauge("stoker_group_world_size", "Number of ranks in the newest run.", group.worldSize(), labels);
        for (FeedStatus.Rank rank : group.ranks()) {
            rank(
                    rank,
                    with(
                            labels,
                            "rank",
                            Integer.toString(rank.rank()),
                            "worker",
                            Integer.toString(rank.worker()),
                            "replica",
                            Integer.toString(rank.replica())));
        }
    }

    private void rank(FeedStatus.Rank rank, String[] labels) {
        gauge(
                "stoker_rank_connected",
                "1 if the trainer is connected to this feeder.",
                rank.connected() ? 1 : 0,
                labels);
        counter("stoker_rank_sent_samples_total", "Samples that this feeder sent to the trainer.", rank.rows(), labels);
        counter("stoker_rank_sent_bytes_total", "Bytes that this feeder sent to the trainer.", rank.bytes(), labels);
        counter(
                "stoker_rank_used_samples_total",
                "Samples that the trainer acknowledged to this feeder.",
                rank.used().rows(),
                labels);
        FeedStatus.Server server = rank.server();
        Map<String, Long> states = new LinkedHashMap<>();
        states.put("idle", server.idle());
        states.put("origin", server.origin());
        states.put("disk", server.disk());
        states.put("build", server.build());
        states.put("write", server.write());
        states.forEach((state, nanos) -> counter(
                "stoker_rank_feeder_seconds_total",
                "Seconds that this feeder's thread for the trainer spent in each state.",
                nanos / 1e9,
                with(labels, "state", state)));
        if (rank.trainer().isEmpty()) {
            return;
        }
        Stats stats = rank.trainer().get();
        counter(
                "stoker_rank_samples_total",
                "Samples that the trainer received, over all feeders.",
                stats.samples(),
                labels);
        counter(
                "stoker_rank_seconds_total",
                "Seconds since the trainer requested its first batch.",
                stats.timeUs() / 1e6,
                labels);
        stats.causes()
                .forEach((cause, us) -> counter(
                        "stoker_rank_wait_seconds_total",
                        "Seconds that the trainer waited, over all feeders, by cause.",
                        us / 1e6,
                        with(labels, "cause", cause)));
    }

    private void counter(String name, String help, double value, String... labels) {
        add("counter", name, help, value, labels);
    }

    private void gauge(String name, String help, double value, String... labels) {
        add("gauge", name, help, value, labels);
    }

    private void add(String type, String name, String help, double value, String... labels) {
        StringBuilder line = new StringBuilder(name).append('{');
        for (int i = 0; i < labels.length; i += 2) {
            line.append(i == 0 ? "" : ",").append(labels[i]).append("=\"");
            line.append(escaped(labels[i + 1])).append('"');
        }
        line.append("} ");
        if (value == (long) value) {
            line.append((long) value);
        } else {
            line.append(value);
        }
        metrics.computeIfAbsent(name, n -> new Metric("# HELP " + n + " " + help + "\n# TYPE " + n + " " + type + "\n"))
                .lines
                .add(line.append('\n').toString());
    }

    private static String[] with(String[] labels, String... more) {
        String[] all = new String[labels.length + more.length];
        System.arraycopy(labels, 0, all, 0, labels.length);
        System.arraycopy(more, 0, all, labels.length, more.length);
        return all;
    }

    private static String escaped(String label) {
        return label.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }
}
