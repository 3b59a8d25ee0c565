package dev.stoker.cli.feed;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.text.Units;
import dev.stoker.server.feed.FeedStatus;
import dev.stoker.server.feed.GroupSpec;
import dev.stoker.server.feed.NodeMetrics;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** The text that a feed prints at its start and at its end. */
public final class FeedText {

    private static final int MAX_RANKS = 32;

    private FeedText() {}

    static void describe(FeedPlan plan, PrintWriter out) {
        List<String> content = content(plan);
        content.subList(0, content.size() - 1).forEach(out::println);
        out.println(content.get(content.size() - 1) + "; trainers may ask for another");
        if (plan.epochs() > 0) {
            out.println(ending(plan));
        }
    }

    /** The streams, one line each, their condition and their order. */
    static List<String> content(FeedPlan plan) {
        OrderSpec order = OrderSpec.fromJson(plan.order());
        List<String> lines = new ArrayList<>();
        for (FeedPlan.Stream stream : plan.streams()) {
            lines.add("stream " + stream.name() + ": " + stream.path() + ", version " + stream.version()
                    + (stream.follow() ? " and newer ones" : "") + ", split " + stream.split() + ", "
                    + Units.plural(stream.lanes(), "lane"));
        }
        if (!order.where().isEmpty()) {
            lines.add("samples: only those for which " + order.where());
        }
        lines.add("order: batches of " + order.batchSize() + " for each rank, seed " + order.seed()
                + ", shuffle window " + Units.bytes(order.shuffleWindowBytes()));
        return lines;
    }

    /**
     * Describes the end of the feed. Validation is a group like any other: it has as many epochs as training, and the
     * feed waits for it.
     */
    private static String ending(FeedPlan plan) {
        String waitsFor = plan.groups().isEmpty()
                ? "all groups that have read have finished their epochs (--groups names the groups that count)"
                : plan.groups().stream()
                        .map(group -> group.stream() + "/" + group.name())
                        .collect(Collectors.joining(", ", "", " have finished their epochs"));
        return "ends: each group of each stream has " + Units.plural(plan.epochs(), "epoch") + "; the feed ends when "
                + waitsFor;
    }

    /** The origin of chunks and the tiers, one line each. */
    static List<String> tiers(FeedStatus status) {
        List<String> lines = new ArrayList<>();
        boolean far = status.tiers().stream().anyMatch(tier -> tier.name().equals("chunks in use"));
        List<FeedStatus.Tier> tiers =
                status.tiers().stream().filter(tier -> tier.cache().isPresent()).toList();
        lines.add(
                !far
                        ? "tiers: none; chunks are mapped in place"
                        : tiers.isEmpty()
                                ? "tiers: none; every epoch reads the whole store"
                                : "tiers: "
                                        + tiers.stream()
                                                .map(tier -> tier.name() + " for " + Units.bytes(tier.limit()))
                                                .collect(Collectors.joining(", then ")));
        for (FeedStatus.Tier tier : tiers) {
            String off = tier.cache().orElseThrow().off();
            if (!off.isEmpty()) {
                lines.add("warning: tier " + tier.name() + " is off: " + off);
            }
            String note = tier.cache().orElseThrow().note();
            if (!note.isEmpty()) {
                lines.add("tier " + tier.name() + ": " + note);
            }
        }
        return lines;
    }

    static void print(FeedStatus status, Duration time, PrintWriter out) {
        NodeMetrics totals = status.totals();
        if (totals.rows() == 0) {
            out.println("feed " + status.name() + " ended after " + Units.time(time)
                    + (status.groups().isEmpty() ? "; no trainer has read from it" : "; it has sent no samples"));
            status.groups().forEach(group -> ranks(group, out));
            return;
        }
        double seconds = Math.max(0.001, time.toMillis() / 1000.0);
        out.println("feed " + status.name() + " sent " + Units.plural(totals.rows(), "sample") + " in "
                + Units.plural(totals.batches(), "message") + ", " + Units.bytes(totals.bytes()) + " in "
                + Units.time(time) + " (" + Units.rate(totals.bytes() / seconds)
                + " over its whole life)");
        out.println(String.format(
                Locale.ROOT,
                "stalls: trainers had nothing left to consume for %.1f %% of their subscribed time; %,d messages sent"
                        + " again, %,d samples or chunks corrupt",
                100 * totals.trainerWaitRatio(),
                totals.refetches(),
                totals.corrupt()));
        if (totals.originReads() > 0
                && status.tiers().stream().anyMatch(tier -> tier.cache().isPresent())) {
            out.println("store: " + Units.bytes(totals.originBytes()) + " in "
                    + Units.plural(totals.originReads(), "read"));
        }
        for (FeedStatus.Group group : status.groups()) {
            ranks(group, out);
        }
    }

    /** The same as JSON. */
    public static ObjectNode json(FeedStatus status, Duration time) {
        NodeMetrics totals = status.totals();
        ObjectNode json = Json.object();
        json.put("name", status.name());
        json.put("seconds", time.toMillis() / 1000.0);
        json.put("samples_used", totals.used().rows());
        json.put("samples_sent", totals.rows());
        json.put("messages_sent", totals.batches());
        json.put("bytes_sent", totals.bytes());
        json.put("store_reads", totals.originReads());
        json.put("store_bytes", totals.originBytes());
        json.put("trainer_wait_ratio", totals.trainerWaitRatio());
        json.put("sent_again", totals.refetches());
        json.put("corrupt", totals.corrupt());
        ArrayNode groups = json.putArray("groups");
        for (FeedStatus.Group group : status.groups()) {
            ObjectNode one = groups.addObject();
            one.put("stream", group.stream()).put("group", group.name());
            one.put("version", group.version()).put("run", group.run());
            one.put("epoch", group.epoch()).put("next", group.next()).put("batches", group.batches());
            ArrayNode ranks = one.putArray("ranks");
            for (FeedStatus.Rank rank : group.ranks()) {
                ObjectNode trainer = ranks.addObject();
                trainer.put("rank", rank.rank()).put("worker", rank.worker()).put("replica", rank.replica());
                trainer.put("samples_used", rank.used().rows());
                rank.trainer().ifPresent(told -> {
                    trainer.put("seconds", told.timeUs() / 1e6).put("waited", told.waitedUs() / 1e6);
                    ObjectNode causes = trainer.putObject("causes");
                    told.causes().forEach((cause, us) -> causes.put(cause, us / 1e6));
                });
            }
        }
        return json;
    }

    private static void ranks(FeedStatus.Group group, PrintWriter out) {
        String of = group.name().equals(GroupSpec.DEFAULT_GROUP) ? "" : " of group " + group.name();
        List<FeedStatus.Rank> told = group.ranks().stream()
                .filter(rank -> rank.trainer().isPresent())
                .toList();
        for (FeedStatus.Rank rank : told.subList(0, Math.min(told.size(), MAX_RANKS))) {
            out.println(group.stream() + of + ": "
                    + StallLine.of(rank, rank.trainer().orElseThrow()));
        }
        if (told.size() > MAX_RANKS) {
            out.println(group.stream() + of + ": and " + Units.count(told.size() - MAX_RANKS) + " further ranks");
        }
    }
}
