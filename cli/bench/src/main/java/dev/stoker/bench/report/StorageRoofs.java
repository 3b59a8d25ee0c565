package dev.stoker.bench.report;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.bench.feed.FeedResult;
import dev.stoker.bench.measure.Rounds;
import dev.stoker.bench.storage.StorageOptions;
import dev.stoker.storage.Stores;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The roofs of the storages that were measured: one for each place. */
final class StorageRoofs {

    /** Blocks of this size and more are read as feeders read chunks. */
    private static final int CHUNK_BYTES = 1 << 20;

    private final Map<String, Roof> byPlace = new LinkedHashMap<>();

    /** @param storages results of {@code stoker bench storage} */
    StorageRoofs(List<JsonNode> storages) {
        Map<String, List<JsonNode>> reads = new LinkedHashMap<>();
        for (JsonNode storage : storages) {
            storage.path("reads")
                    .forEach(reads.computeIfAbsent(storage.path("target").asText(), key -> new ArrayList<>())::add);
        }
        reads.forEach((place, all) -> best(all, "cold", "remote")
                .ifPresent(read -> byPlace.put(
                        place, roof(Roof.Resource.STORAGE, reads.size() == 1 ? "storage" : "storage " + place, read))));
    }

    List<Roof> all() {
        return List.copyOf(byPlace.values());
    }

    /**
     * Returns the roofs over a feed that reads its dataset: of the storage that has the dataset. If none is known to
     * have it, the roofs of all.
     *
     * @param stream as typed for the feed
     */
    List<Roof> over(String stream) {
        List<Roof> own = byPlace.entrySet().stream()
                .filter(place -> has(place.getKey(), FeedResult.dataset(stream)))
                .map(Map.Entry::getValue)
                .toList();
        return own.isEmpty() ? all() : own;
    }

    private static boolean has(String place, String dataset) {
        try {
            String directory = Stores.normalize(place);
            return (Stores.normalize(dataset) + "/").startsWith(directory.endsWith("/") ? directory : directory + "/");
        } catch (IllegalArgumentException e) {
            // Not typed on this machine.
            return false;
        }
    }

    /** Returns the roof of some reads. */
    static Roof roof(Roof.Resource resource, String name, JsonNode read) {
        Rounds rate = Rounds.of(read.path("bytes_per_s"));
        String full = String.format(
                Locale.ROOT,
                "%s, %s reads of %s, %d at a time, %s",
                name,
                read.path("pattern").asText(),
                StorageOptions.block(read.path("block_bytes").asLong()),
                read.path("depth").asInt(),
                read.path("cache").asText());
        return new Roof(resource, full, rate.median(), rate.spread());
    }

    /** The fastest reads of blocks as large as a chunk's parts, or of the largest blocks. */
    static Optional<JsonNode> best(List<JsonNode> reads, String... caches) {
        List<JsonNode> fitting = reads.stream()
                .filter(read -> List.of(caches).contains(read.path("cache").asText()))
                .toList();
        int largest = fitting.stream()
                .mapToInt(read -> read.path("block_bytes").asInt())
                .max()
                .orElse(0);
        return fitting.stream()
                .filter(read -> read.path("block_bytes").asInt() >= Math.min(CHUNK_BYTES, largest))
                .max(Comparator.comparingDouble(
                        read -> Rounds.of(read.path("bytes_per_s")).median()));
    }
}
