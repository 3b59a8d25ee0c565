package dev.stoker.feeder.ui;

import dev.stoker.feeder.node.FeedStatus;
import dev.stoker.feeder.node.NodeMetrics;
import dev.stoker.schemas.protocol.Stats;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A status in Prometheus' text exposition format, version 0.0.4. */
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
                "Samples that trainers have acknowledged.",
                totals.used().rows(),
                feed);
        counter(
                "stoker_feeder_used_bytes_total",
                "Bytes of acknowledged samples, estimated from the average of all that were sent.",
                totals.used().bytes(),
                feed);
        counter("stoker_feeder_origin_reads_total", "Reads of the dataset's store.", totals.originReads(), feed);
        counter(
                "stoker_feeder_origin_read_bytes_total",
                "Bytes read from the dataset's store.",
                totals.originBytes(),
                feed);
        counter(
                "stoker_feeder_origin_metadata_total",
                "Other calls of the dataset's store: listings, lengths, reads of its log.",
                totals.originMetadata(),
                feed);
        counter("stoker_feeder_rejected_total", "Connections refused.", totals.rejected(), feed);
        counter("stoker_feeder_nacks_total", "Messages that trainers found damaged.", totals.nacks(), feed);
        counter("stoker_feeder_refetches_total", "Messages sent again.", totals.refetches(), feed);
        counter("stoker_feeder_corrupt_total", "Rows or chunks found damaged at the origin.", totals.corrupt(), feed);
        gauge("stoker_feeder_sessions", "Connections of trainers.", totals.sessions(), feed);
        gauge("stoker_feeder_open_windows", "Windows in memory.", totals.openWindows(), feed);
        gauge(
                "stoker_feeder_pending_receipts",
                "Receipts acknowledged and not yet durable.",
                totals.pendingReceipts(),
                feed);
        gauge("stoker_feeder_lanes", "Lanes whose preferred place this is.", totals.lanes(), feed);
        gauge(
                "stoker_feeder_trainer_wait_ratio",
                "Share of their time in which trainers had nothing left to consume.",
                totals.trainerWaitRatio(),
                feed);
        for (FeedStatus.Tier tier : status.tiers()) {
            String[] labels = {"feed", status.name(), "tier", tier.name(), "unit", tier.unit()};
            gauge("stoker_feeder_tier_used", "What a tier holds.", tier.used(), labels);
            gauge("stoker_feeder_tier_limit", "What a tier may hold.", tier.limit(), labels);
            tier.cache().ifPresent(cache -> cache(cache, "feed", status.name(), "tier", tier.name()));
        }
    }

    private void cache(FeedStatus.Cache cache, String... labels) {
        counter("stoker_feeder_tier_hits_total", "Chunks that were needed and there.", cache.hits(), labels);
        counter("stoker_feeder_tier_misses_total", "Chunks that were needed and not there.", cache.misses(), labels);
        counter("stoker_feeder_tier_loads_total", "Chunks placed, or found and checked.", cache.loads(), labels);
        counter(
                "stoker_feeder_tier_load_seconds_total",
                "Seconds spent on placing chunks in a tier.",
                cache.loadNanos() / 1e9,
                labels);
        counter("stoker_feeder_tier_failures_total", "Failures of a tier's device.", cache.failures(), labels);
        gauge(
                "stoker_feeder_tier_off",
                "Whether a tier takes nothing more.",
                cache.off().isEmpty() ? 0 : 1,
                labels);
    }

    private void group(String feed, FeedStatus.Group group) {
        String[] labels = {"feed", feed, "stream", group.stream(), "group", group.name()};
        gauge("stoker_group_epoch", "Epoch that the group reads.", group.epoch(), labels);
        gauge("stoker_group_position", "Batches of that epoch that it has consumed.", group.next(), labels);
        gauge("stoker_group_batches", "Batches of an epoch.", group.batches(), labels);
        gauge("stoker_group_world_size", "Ranks of the newest run.", group.worldSize(), labels);
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
        gauge("stoker_rank_connected", "Whether the trainer is connected here.", rank.connected() ? 1 : 0, labels);
        counter("stoker_rank_sent_samples_total", "Samples that this feeder sent.", rank.rows(), labels);
        counter("stoker_rank_sent_bytes_total", "Bytes that this feeder sent.", rank.bytes(), labels);
        counter(
                "stoker_rank_used_samples_total",
                "Samples that the trainer has acknowledged to this feeder.",
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
                "How this feeder's thread for the trainer spent its time.",
                nanos / 1e9,
                with(labels, "state", state)));
        if (rank.trainer().isEmpty()) {
            return;
        }
        Stats stats = rank.trainer().get();
        counter("stoker_rank_samples_total", "Samples handed out, over all feeders.", stats.samples(), labels);
        counter("stoker_rank_seconds_total", "Seconds since the first batch.", stats.timeUs() / 1e6, labels);
        stats.causes()
                .forEach((cause, us) -> counter(
                        "stoker_rank_wait_seconds_total",
                        "Seconds that the trainer waited, over all feeders.",
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
