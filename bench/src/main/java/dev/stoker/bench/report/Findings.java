package dev.stoker.bench.report;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.bench.measure.BenchException;
import dev.stoker.bench.measure.Rounds;
import java.util.ArrayList;
import java.util.List;

/**
 * The results of measurements that a page shows.
 *
 * @param storages of {@code stoker bench storage}
 * @param feeds of {@code stoker bench feed}
 * @param demands of {@code stoker bench demand}
 */
public record Findings(List<JsonNode> storages, List<JsonNode> feeds, List<JsonNode> demands) {
    public Findings {
        storages = List.copyOf(storages);
        feeds = List.copyOf(feeds);
        demands = List.copyOf(demands);
    }

    /** A result and where it comes from, for messages. */
    public record Source(String name, JsonNode json) {}

    /**
     * Sorts results by their kind.
     *
     * @throws BenchException if one is not the output of {@code stoker bench … --json}
     */
    public static Findings of(List<Source> sources) throws BenchException {
        List<JsonNode> storages = new ArrayList<>();
        List<JsonNode> feeds = new ArrayList<>();
        List<JsonNode> demands = new ArrayList<>();
        for (Source source : sources) {
            if (source.json().path("format").asInt() > 1) {
                throw new BenchException(source.name() + " has format "
                        + source.json().path("format").asInt() + "; this command reads format 1: update it");
            }
            switch (source.json().path("bench").asText()) {
                case "storage" -> storages.add(source.json());
                case "feed" -> feeds.add(source.json());
                case "demand" -> demands.add(source.json());
                default ->
                    throw new BenchException(
                            source.name() + " is not a result; expected the output of stoker bench … --json");
            }
        }
        return new Findings(storages, feeds, demands);
    }

    List<JsonNode> all() {
        List<JsonNode> all = new ArrayList<>(storages);
        all.addAll(feeds);
        all.addAll(demands);
        return all;
    }

    /** Returns a measured value of a result; a result without it is damaged. */
    static Rounds rounds(JsonNode json, String name) throws BenchException {
        try {
            return Rounds.of(json.path(name));
        } catch (IllegalArgumentException e) {
            throw new BenchException("a result has no " + name + "; repeat the measurement", e);
        }
    }
}
