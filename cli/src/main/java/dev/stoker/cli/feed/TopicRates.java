package dev.stoker.cli.feed;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.text.Units;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;

/** The rates of a topic feed, from its reports of the last seconds. One thread. */
public final class TopicRates {
    private final int most;
    private final Deque<JsonNode> said = new ArrayDeque<>();

    /** @param most the number of reports to keep */
    public TopicRates(int most) {
        this.most = most;
    }

    void add(JsonNode progress) {
        if (said.isEmpty()
                || said.getLast().path("at_ms").asLong()
                        != progress.path("at_ms").asLong()) {
            if (said.size() > most) {
                said.removeFirst();
            }
            said.addLast(progress);
        }
    }

    private double rate(String what) {
        if (said.isEmpty()) {
            return 0;
        }
        JsonNode first = said.getFirst();
        JsonNode last = said.getLast();
        double seconds = (last.path("at_ms").asLong() - first.path("at_ms").asLong()) / 1000.0;
        return seconds <= 0
                ? 0
                : Math.max(0, last.path(what).asLong() - first.path(what).asLong()) / seconds;
    }

    /** The lines below the feed's name: rates, and the positions of its lanes. */
    List<String> lines(JsonNode topic) {
        List<String> lines = new ArrayList<>();
        lines.add(String.format(
                Locale.ROOT,
                "%.0f samples/s   %s   %.1f records/s   to topic %s at %s",
                rate("rows"),
                Units.rate(rate("bytes")),
                rate("records"),
                topic.path("name").asText(),
                topic.path("bootstrap").asText()));
        if (!said.isEmpty()) {
            said.getLast().path("problems").forEach(problem -> lines.add(problem.asText()));
        }
        if (said.isEmpty() || said.getLast().path("lanes").isEmpty()) {
            lines.add("nothing written yet");
            return lines;
        }
        List<String> groups = new ArrayList<>();
        said.getLast().path("waits_for").forEach(group -> groups.add(group.asText()));
        if (!groups.isEmpty()) {
            lines.add("waits for " + (groups.size() == 1 ? "group " : "groups ") + String.join(", ", groups));
        }
        JsonNode lanes = said.getLast().path("lanes");
        boolean follows = false;
        for (JsonNode lane : lanes) {
            follows |= lane.has("version");
        }
        lines.add("   LANE      EPOCH" + (follows ? "    VERSION" : "") + "      BATCH  WAITS FOR");
        for (JsonNode lane : lanes) {
            lines.add(String.format(
                            Locale.ROOT,
                            "%7d %10d%s %10d  %s",
                            lane.path("lane").asInt(),
                            lane.path("epoch").asLong(),
                            follows
                                    ? String.format(
                                            Locale.ROOT,
                                            " %10s",
                                            lane.path("version").asText("-"))
                                    : "",
                            lane.path("batch").asLong(),
                            lane.path("waits_for").asText())
                    .stripTrailing());
        }
        return lines;
    }

    /** The same as JSON. */
    public ObjectNode json(String feed) {
        ObjectNode json = Json.object();
        json.put("name", feed).put("samples_per_second", rate("rows")).put("bytes_per_second", rate("bytes"));
        json.put("records_per_second", rate("records"));
        JsonNode last = said.isEmpty() ? Json.object() : said.getLast();
        json.set("waits_for", last.has("waits_for") ? last.get("waits_for") : Json.array());
        json.set("problems", last.has("problems") ? last.get("problems") : Json.array());
        json.set("lanes", last.has("lanes") ? last.get("lanes") : Json.array());
        return json;
    }
}
