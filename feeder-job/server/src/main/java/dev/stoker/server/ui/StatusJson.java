package dev.stoker.server.ui;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.protocol.Stats;
import dev.stoker.server.feed.FeedStatus;
import dev.stoker.server.feed.NodeMetrics;
import dev.stoker.server.feed.Used;
import java.util.List;

/**
 * A status as JSON; times are seconds, moments milliseconds since 1970. The keys stand in {@code docs/operations.md}.
 */
final class StatusJson {

    private StatusJson() {}

    static byte[] of(FeedStatus status) {
        ObjectNode json = Json.object();
        json.putObject("feed").put("name", status.name()).put("id", status.id().toString());
        status.whole().feeders().forEach(json.putArray("feeders")::add);
        json.put("lanes", status.whole().lanes());
        json.put("address", status.address());
        json.put("started_ms", status.startedMs());
        json.put("now_ms", status.nowMs());
        totals(json.putObject("totals"), status.totals());
        ArrayNode tiers = json.putArray("tiers");
        status.tiers().forEach(tier -> tier(tiers.addObject(), tier));
        ArrayNode groups = json.putArray("groups");
        status.groups().forEach(group -> group(groups.addObject(), group));
        status.problems().forEach(json.putArray("problems")::add);
        return bytes(json);
    }

    static byte[] of(List<History.Entry> history) {
        ArrayNode json = Json.array();
        history.forEach(
                entry -> json.addArray().add(entry.ms()).add(entry.rows()).add(entry.bytes()));
        return bytes(json);
    }

    private static void totals(ObjectNode json, NodeMetrics totals) {
        json.put("batches", totals.batches());
        json.put("rows", totals.rows());
        json.put("bytes", totals.bytes());
        used(json, totals.used());
        json.put("sessions", totals.sessions());
        json.put("rejected", totals.rejected());
        json.put("origin_reads", totals.originReads());
        json.put("origin_bytes", totals.originBytes());
        json.put("origin_metadata", totals.originMetadata());
        json.put("nacks", totals.nacks());
        json.put("refetches", totals.refetches());
        json.put("corrupt", totals.corrupt());
        json.put("open_windows", totals.openWindows());
        json.put("pending_receipts", totals.pendingReceipts());
        json.put("lookups", totals.lookedUp().requests());
        json.put("lookup_keys", totals.lookedUp().keys());
        json.put("lookup_bytes", totals.lookedUp().bytes());
        json.put("lanes", totals.lanes());
    }

    private static void used(ObjectNode json, Used used) {
        json.put("used_rows", used.rows()).put("used_bytes", used.bytes());
    }

    private static void tier(ObjectNode json, FeedStatus.Tier tier) {
        json.put("name", tier.name());
        json.put("unit", tier.unit());
        json.put("used", tier.used());
        json.put("limit", tier.limit());
        tier.cache()
                .ifPresent(cache -> json.put("hits", cache.hits())
                        .put("misses", cache.misses())
                        .put("loads", cache.loads())
                        .put("load_seconds", seconds(cache.loadNanos()))
                        .put("failures", cache.failures())
                        .put("off", cache.off())
                        .put("note", cache.note()));
    }

    private static void group(ObjectNode json, FeedStatus.Group group) {
        json.put("stream", group.stream());
        json.put("dataset", group.dataset());
        json.put("version", group.version());
        json.put("split", group.split());
        json.put("group", group.name());
        json.put("run", group.run());
        json.put("world_size", group.worldSize());
        json.put("epoch", group.epoch());
        json.put("next", group.next());
        json.put("batches", group.batches());
        json.put("samples", group.samples());
        if (group.epochs().isPresent()) {
            json.put("epochs", group.epochs().getAsLong());
        } else {
            json.putNull("epochs");
        }
        ArrayNode ranks = json.putArray("ranks");
        group.ranks().forEach(rank -> rank(ranks.addObject(), rank));
    }

    private static void rank(ObjectNode json, FeedStatus.Rank rank) {
        json.put("rank", rank.rank());
        json.put("worker", rank.worker());
        json.put("workers", rank.workers());
        json.put("replica", rank.replica());
        json.put("connected", rank.connected());
        json.put("client", rank.client());
        json.put("epoch", rank.epoch());
        json.put("next", rank.next());
        json.put("pieces", rank.pieces());
        json.put("rows", rank.rows());
        json.put("bytes", rank.bytes());
        used(json, rank.used());
        FeedStatus.Server server = rank.server();
        json.putObject("server")
                .put("idle", seconds(server.idle()))
                .put("origin", seconds(server.origin()))
                .put("disk", seconds(server.disk()))
                .put("build", seconds(server.build()))
                .put("write", seconds(server.write()));
        if (rank.trainer().isPresent()) {
            trainer(json.putObject("trainer"), rank.trainer().get());
        } else {
            json.putNull("trainer");
        }
    }

    private static void trainer(ObjectNode json, Stats stats) {
        json.put("seconds", stats.timeUs() / 1e6);
        json.put("waited", stats.waitedUs() / 1e6);
        json.put("batches", stats.batches());
        json.put("samples", stats.samples());
        json.put("bytes", stats.bytes());
        ObjectNode causes = json.putObject("causes");
        stats.causes().forEach((cause, us) -> causes.put(cause, us / 1e6));
        ArrayNode waits = json.putArray("waits");
        for (Stats.Wait wait : stats.waits()) {
            waits.addObject()
                    .put("feeder", wait.feeder())
                    .put("lane", wait.lane())
                    .put("cause", wait.cause())
                    .put("seconds", wait.us() / 1e6)
                    .put("times", wait.times());
        }
    }

    private static double seconds(long nanos) {
        return nanos / 1e9;
    }

    private static byte[] bytes(JsonNode json) {
        try {
            return Json.PLAIN.writeValueAsBytes(json);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a tree of texts and numbers is always written", e);
        }
    }
}
