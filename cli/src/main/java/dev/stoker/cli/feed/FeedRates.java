package dev.stoker.cli.feed;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.running.FeedSnapshot;
import dev.stoker.schemas.json.Json;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The rates of a feed between two snapshots, over all its servers.
 *
 * @param samplesPerSecond samples that trainers acknowledged
 * @param bytesPerSecond bytes of these samples, estimated
 * @param sessions connections of trainers
 * @param groups its groups, by stream and name
 * @param problems servers that did not answer, services that servers wait for, tiers that are turned off
 * @param tiers that keep chunks, over all servers
 */
public record FeedRates(
        double samplesPerSecond,
        double bytesPerSecond,
        long sessions,
        List<Group> groups,
        List<String> problems,
        List<Tier> tiers) {

    /** Waits for a smaller share of the time are not shown. */
    static final double NOTABLE = 0.01;

    /** A group and its trainers. */
    record Group(String stream, String name, long version, long epoch, long next, long batches, List<Rank> ranks) {}

    /**
     * A trainer.
     *
     * @param name rank, and worker and replica if there are several
     * @param waitShare recent share of its time waited; negative if it does not report it
     * @param cause of most of this wait; empty if it is small
     * @param where the feeder and lane with the longest wait for this cause
     */
    record Rank(
            String name,
            boolean connected,
            double samplesPerSecond,
            double waitShare,
            double waitShareOverall,
            String cause,
            String where) {}

    /** A tier: its contents, and its share of hits since the start. */
    record Tier(String name, long used, long limit, long hits, long misses) {
        private Tier with(JsonNode more) {
            return new Tier(
                    name,
                    used + more.path("used").asLong(),
                    limit + more.path("limit").asLong(),
                    hits + more.path("hits").asLong(),
                    misses + more.path("misses").asLong());
        }
    }

    public FeedRates {
        tiers = List.copyOf(tiers);
        groups = List.copyOf(groups);
        problems = List.copyOf(problems);
    }

    /** Returns the number of ranks that are connected, over all groups; a rank has a connection to each feeder. */
    long ranks() {
        return groups.stream()
                .mapToLong(group -> group.ranks().stream()
                        .filter(Rank::connected)
                        .map(rank -> rank.name().replaceFirst(" worker [0-9]+", ""))
                        .distinct()
                        .count())
                .sum();
    }

    /** @param before the same snapshot as {@code now} if there is no earlier one */
    static FeedRates between(FeedSnapshot before, FeedSnapshot now) {
        double seconds = (now.nanos() - before.nanos()) / 1e9;
        Map<String, JsonNode> earlier = new TreeMap<>();
        before.servers().forEach(server -> earlier.put(server.path("address").asText(), server));
        List<String> problems = new ArrayList<>(now.problems());
        double rows = 0;
        double bytes = 0;
        long sessions = 0;
        Map<String, List<JsonNode>> groups = new TreeMap<>();
        for (JsonNode server : now.servers()) {
            JsonNode totals = server.path("totals");
            JsonNode then = earlier.getOrDefault(server.path("address").asText(), server)
                    .path("totals");
            rows += grown(totals, then, "used_rows");
            bytes += grown(totals, then, "used_bytes");
            sessions += totals.path("sessions").asLong();
            server.path("problems")
                    .forEach(problem -> problems.add(text(server, "address") + " waits: " + clean(problem.asText())));
            server.path("groups")
                    .forEach(group -> groups.computeIfAbsent(key(group), k -> new ArrayList<>())
                            .add(group));
        }
        List<Group> found = new ArrayList<>();
        groups.forEach((key, parts) -> found.add(group(parts, all(before, key), seconds)));
        return new FeedRates(
                per(rows, seconds), per(bytes, seconds), sessions, found, problems, tiers(now.servers(), problems));
    }

    private static List<Tier> tiers(List<JsonNode> servers, List<String> problems) {
        Map<String, Tier> tiers = new LinkedHashMap<>();
        for (JsonNode server : servers) {
            for (JsonNode tier : server.path("tiers")) {
                if (tier.has("hits")) {
                    String name = text(tier, "name");
                    tiers.merge(name, new Tier(name, 0, 0, 0, 0).with(tier), (known, more) -> known.with(tier));
                    if (!text(tier, "off").isEmpty()) {
                        problems.add(
                                "tier " + name + " of " + text(server, "address") + " is off: " + text(tier, "off"));
                    }
                }
            }
        }
        return List.copyOf(tiers.values());
    }

    private static String key(JsonNode group) {
        return text(group, "stream") + "/" + text(group, "group");
    }

    private static List<JsonNode> all(FeedSnapshot snapshot, String key) {
        List<JsonNode> groups = new ArrayList<>();
        snapshot.servers()
                .forEach(server -> server.path("groups").forEach(group -> {
                    if (key(group).equals(key)) {
                        groups.add(group);
                    }
                }));
        return groups;
    }

    private static Group group(List<JsonNode> parts, List<JsonNode> before, double seconds) {
        long run = parts.stream()
                .mapToLong(part -> part.path("run").asLong())
                .max()
                .orElse(0);
        List<JsonNode> present =
                parts.stream().filter(part -> part.path("run").asLong() == run).toList();
        // In a following feed, epochs of other versions may have another length.
        JsonNode first = Collections.max(
                present, Comparator.comparingLong(part -> part.path("epoch").asLong()));
        long epoch = first.path("epoch").asLong();
        long next = present.stream()
                .filter(part -> part.path("epoch").asLong() == epoch)
                .mapToLong(part -> part.path("next").asLong())
                .max()
                .orElse(0);
        List<Rank> ranks = new ArrayList<>();
        Map<String, JsonNode> then = newest(
                before.stream().filter(part -> part.path("run").asLong() == run).toList());
        newest(present).forEach((seat, rank) -> ranks.add(rank(rank, then.getOrDefault(seat, rank), seconds)));
        return new Group(
                text(first, "stream"),
                text(first, "group"),
                first.path("version").asLong(),
                epoch,
                next,
                first.path("batches").asLong(),
                ranks);
    }

    /** For each seat, the report of the server that heard last from it, with the rows of all servers. */
    private static Map<String, JsonNode> newest(List<JsonNode> parts) {
        Map<String, JsonNode> seats = new TreeMap<>();
        for (JsonNode part : parts) {
            for (JsonNode rank : part.path("ranks")) {
                String seat = String.format(
                        "%08d %08d %08d",
                        rank.path("rank").asLong(),
                        rank.path("worker").asLong(),
                        rank.path("replica").asLong());
                JsonNode known = seats.get(seat);
                if (known == null) {
                    seats.put(seat, rank);
                    continue;
                }
                boolean newer = rank.at("/trainer/seconds").asDouble(-1)
                        > known.at("/trainer/seconds").asDouble(-1);
                ObjectNode merged = (newer ? rank : known).deepCopy();
                merged.put(
                        "used_rows",
                        rank.path("used_rows").asLong()
                                + known.path("used_rows").asLong());
                merged.put(
                        "connected",
                        rank.path("connected").asBoolean()
                                || known.path("connected").asBoolean());
                seats.put(seat, merged);
            }
        }
        return seats;
    }

    private static Rank rank(JsonNode rank, JsonNode before, double seconds) {
        StringBuilder name = new StringBuilder(rank.path("rank").asText());
        if (rank.path("workers").asLong() > 1) {
            name.append(" worker ").append(rank.path("worker").asLong());
        }
        if (rank.path("replica").asLong() > 0) {
            name.append(" replica ").append(rank.path("replica").asLong());
        }
        JsonNode trainer = rank.path("trainer");
        double share = -1;
        double overall = -1;
        String cause = "";
        if (trainer.isObject()) {
            JsonNode then = before.path("trainer");
            double time = grown(trainer, then, "seconds");
            overall = per(
                    trainer.path("waited").asDouble(), trainer.path("seconds").asDouble());
            // A trainer reports about once a second; a shorter interval gives no rate.
            boolean lately = time >= 0.5;
            share = lately ? Math.min(1, per(grown(trainer, then, "waited"), time)) : overall;
            cause = share < NOTABLE ? "" : cause(trainer, lately ? then : Json.object());
        }
        return new Rank(
                name.toString(),
                rank.path("connected").asBoolean(),
                per(grown(rank, before, "used_rows"), seconds),
                share,
                overall,
                cause,
                where(trainer, cause));
    }

    private static String cause(JsonNode trainer, JsonNode before) {
        String most = "";
        double longest = 0;
        for (Map.Entry<String, JsonNode> cause : trainer.path("causes").properties()) {
            double waited = grown(trainer.path("causes"), before.path("causes"), cause.getKey());
            if (waited > longest) {
                longest = waited;
                most = clean(cause.getKey());
            }
        }
        return most;
    }

    private static String where(JsonNode trainer, String cause) {
        for (JsonNode wait : trainer.path("waits")) {
            if (!cause.isEmpty() && text(wait, "cause").equals(cause)) {
                return text(wait, "feeder") + " lane " + wait.path("lane").asLong();
            }
        }
        return "";
    }

    private static double grown(JsonNode now, JsonNode before, String key) {
        return Math.max(0, now.path(key).asDouble() - before.path(key).asDouble());
    }

    private static double per(double amount, double seconds) {
        return seconds <= 0 ? 0 : amount / seconds;
    }

    private static String text(JsonNode node, String key) {
        return clean(node.path(key).asText());
    }

    /** Removes control characters: names come from trainers and are printed on a terminal. */
    private static String clean(String text) {
        return text.replaceAll("\\p{Cntrl}", "?");
    }

    /** The same as JSON. */
    public ObjectNode json(String feed) {
        ObjectNode json = Json.object();
        json.put("name", feed);
        json.put("samples_per_second", samplesPerSecond);
        json.put("bytes_per_second", bytesPerSecond);
        json.put("ranks", ranks());
        json.put("sessions", sessions);
        ArrayNode list = json.putArray("groups");
        for (Group group : groups) {
            ObjectNode one = list.addObject();
            one.put("stream", group.stream()).put("group", group.name());
            one.put("version", group.version());
            one.put("epoch", group.epoch()).put("next", group.next()).put("batches", group.batches());
            ArrayNode ranks = one.putArray("ranks");
            for (Rank rank : group.ranks()) {
                ObjectNode trainer = ranks.addObject().put("rank", rank.name()).put("connected", rank.connected());
                trainer.put("samples_per_second", rank.samplesPerSecond());
                if (rank.waitShare() >= 0) {
                    trainer.put("wait_share", rank.waitShare()).put("wait_share_overall", rank.waitShareOverall());
                }
                trainer.put("cause", rank.cause()).put("where", rank.where());
            }
        }
        ArrayNode levels = json.putArray("tiers");
        for (Tier tier : tiers) {
            levels.addObject()
                    .put("name", tier.name())
                    .put("used", tier.used())
                    .put("limit", tier.limit())
                    .put("hits", tier.hits())
                    .put("misses", tier.misses());
        }
        problems.forEach(json.putArray("problems")::add);
        return json;
    }
}
