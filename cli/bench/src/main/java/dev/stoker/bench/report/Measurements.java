package dev.stoker.bench.report;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.bench.measure.Rounds;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.text.Units;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The results of measurements that a page shows.
 *
 * @param storages of {@code stoker bench storage}
 * @param feeds of {@code stoker bench feed}
 * @param demands of {@code stoker bench demand}
 */
public record Measurements(List<JsonNode> storages, List<JsonNode> feeds, List<JsonNode> demands) {
    public Measurements {
        storages = List.copyOf(storages);
        feeds = List.copyOf(feeds);
        demands = List.copyOf(demands);
    }

    /** A result and where it comes from, for messages. */
    public record Source(String name, JsonNode json) {}

    /**
     * Sorts results by their kind.
     *
     * @throws StokerException if one is not the output of {@code stoker bench … --json}, or is damaged
     */
    public static Measurements of(List<Source> sources) throws StokerException {
        List<JsonNode> storages = new ArrayList<>();
        List<JsonNode> feeds = new ArrayList<>();
        List<JsonNode> demands = new ArrayList<>();
        for (Source source : sources) {
            if (source.json().path("format").asInt() > 1) {
                throw new StokerException(source.name() + " has format "
                        + source.json().path("format").asInt() + "; this command reads format 1: update it");
            }
            switch (source.json().path("bench").asText()) {
                case "storage" -> storages.add(source.json());
                case "feed" -> feeds.add(source.json());
                case "demand" -> demands.add(source.json());
                default ->
                    throw new StokerException(
                            source.name() + " is not a result; expected the output of stoker bench … --json");
            }
            try {
                check(source.json());
            } catch (IllegalArgumentException e) {
                throw new StokerException(
                        source.name() + " is damaged: " + e.getMessage() + "; repeat the measurement", e);
            }
        }
        return new Measurements(storages, feeds, demands);
    }

    /** Returns a warning if storages and feeds were measured on different machines. */
    public Optional<String> note() {
        Set<String> machines = new LinkedHashSet<>();
        for (JsonNode json : Stream.concat(storages.stream(), feeds.stream()).toList()) {
            JsonNode machine = json.path("machine");
            machines.add(Units.plural(machine.path("processors").asLong(), "processor") + ", "
                    + machine.path("model").asText() + ", "
                    + machine.path("system").asText());
        }
        return machines.size() < 2
                ? Optional.empty()
                : Optional.of("the results are from different machines (" + String.join("; ", machines)
                        + "): a roof of one says little about a feed on another; measure all on one machine");
    }

    List<JsonNode> all() {
        List<JsonNode> all = new ArrayList<>(storages);
        all.addAll(feeds);
        all.addAll(demands);
        return all;
    }

    /** Checks the values that the page computes with. */
    private static void check(JsonNode json) {
        for (JsonNode read : json.path("reads")) {
            requirePositive(read, "block_bytes");
            requireRounds(read, "bytes_per_s");
        }
        json.path("shapes").forEach(Report::shape);
        if (!json.path("bench").asText().equals("feed")) {
            return;
        }
        requirePositive(json, "sample_bytes");
        requirePositive(json.path("first_epoch"), "samples_per_s");
        requireRounds(json, "memory_copy_bytes_per_s");
        for (JsonNode system : json.path("systems")) {
            requireRounds(system, "bytes_per_s");
            if (system.path("system").asText().equals("feed")) {
                requireRounds(system, "samples_per_s");
                requireRounds(system, "consumer_cpu_s_per_gb");
            }
            if (system.has("sender_cpu_s_per_gb")) {
                requireRounds(system, "sender_cpu_s_per_gb");
            }
        }
    }

    private static void requirePositive(JsonNode json, String name) {
        if (!(json.path(name).asDouble() > 0)) {
            throw new IllegalArgumentException(name + " is " + json.path(name).asText("missing") + ", not positive");
        }
    }

    private static void requireRounds(JsonNode json, String name) {
        try {
            Rounds.of(json.path(name));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(name + ": " + e.getMessage(), e);
        }
    }
}
