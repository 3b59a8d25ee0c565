package dev.stoker.feeder.source.reader;

import dev.stoker.server.NodeLease;
import dev.stoker.server.feed.FeedStatus;
import dev.stoker.server.feed.NodeMetrics;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;

/**
 * Shows the node's figures as Flink metrics in the group {@code stoker} of the source operator. The figures are those
 * of the whole process: readers of one process show the same ones, so take the maximum per TaskManager, not the sum.
 */
final class NodeGauges {

    private NodeGauges() {}

    static void register(MetricGroup group, NodeLease lease) {
        MetricGroup stoker = group.addGroup("stoker");
        whole(stoker, "batches", lease, NodeMetrics::batches);
        whole(stoker, "bytes", lease, NodeMetrics::bytes);
        whole(stoker, "rows", lease, NodeMetrics::rows);
        whole(stoker, "originReads", lease, NodeMetrics::originReads);
        whole(stoker, "originBytes", lease, NodeMetrics::originBytes);
        whole(stoker, "originMetadata", lease, NodeMetrics::originMetadata);
        whole(stoker, "sessions", lease, NodeMetrics::sessions);
        whole(stoker, "rejected", lease, NodeMetrics::rejected);
        whole(stoker, "nacks", lease, NodeMetrics::nacks);
        whole(stoker, "refetches", lease, NodeMetrics::refetches);
        whole(stoker, "corrupt", lease, NodeMetrics::corrupt);
        whole(stoker, "openWindows", lease, NodeMetrics::openWindows);
        whole(stoker, "workingBytes", lease, NodeMetrics::workingBytes);
        whole(stoker, "mappings", lease, NodeMetrics::mappings);
        whole(stoker, "pendingReceipts", lease, NodeMetrics::pendingReceipts);
        whole(stoker, "lookups", lease, metrics -> metrics.lookedUp().requests());
        whole(stoker, "lookupKeys", lease, metrics -> metrics.lookedUp().keys());
        whole(stoker, "lookupBytes", lease, metrics -> metrics.lookedUp().bytes());
        ratio(stoker, "trainerWaitRatio", lease, NodeMetrics::trainerWaitRatio);
        List<FeedStatus.Tier> tiers = lease.tiers();
        for (int i = 0; i < tiers.size(); i++) {
            if (tiers.get(i).cache().isPresent()) {
                tier(stoker.addGroup("tier", tiers.get(i).name().replaceAll("[^A-Za-z0-9]+", "-")), lease, i);
            }
        }
    }

    private static void tier(MetricGroup group, NodeLease lease, int index) {
        group.gauge("usedBytes", (Gauge<Long>) () -> lease.tiers().get(index).used());
        group.gauge("limitBytes", (Gauge<Long>) () -> lease.tiers().get(index).limit());
        cache(group, "hits", lease, index, FeedStatus.Cache::hits);
        cache(group, "misses", lease, index, FeedStatus.Cache::misses);
        cache(group, "loads", lease, index, FeedStatus.Cache::loads);
        cache(group, "loadNanos", lease, index, FeedStatus.Cache::loadNanos);
        cache(group, "failures", lease, index, FeedStatus.Cache::failures);
        cache(group, "off", lease, index, cache -> cache.off().isEmpty() ? 0 : 1);
    }

    private static void cache(
            MetricGroup group, String name, NodeLease lease, int index, ToLongFunction<FeedStatus.Cache> value) {
        group.gauge(name, (Gauge<Long>)
                () -> value.applyAsLong(lease.tiers().get(index).cache().orElseThrow()));
    }

    private static void whole(MetricGroup group, String name, NodeLease lease, ToLongFunction<NodeMetrics> value) {
        group.gauge(name, (Gauge<Long>) () -> value.applyAsLong(lease.metrics()));
    }

    private static void ratio(MetricGroup group, String name, NodeLease lease, ToDoubleFunction<NodeMetrics> value) {
        group.gauge(name, (Gauge<Double>) () -> value.applyAsDouble(lease.metrics()));
    }
}
