package dev.stoker.metadata.mixing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.order.LaneOrder;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.ShufflePolicy;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class MixingTest {

    private final InMemoryObjectStore store = new InMemoryObjectStore(SampleDatasets.CLOCK);

    private static JsonNode vectors() throws IOException {
        try (InputStream in = MixingTest.class.getResourceAsStream("/vectors/mixing.json")) {
            return new ObjectMapper().readTree(in);
        }
    }

    @Test
    void theVectorsComeOut() throws IOException {
        for (JsonNode vector : vectors().path("cases")) {
            List<Map<String, Long>> counts = new ArrayList<>();
            for (JsonNode chunk : vector.path("counts")) {
                Map<String, Long> byClass = new HashMap<>();
                chunk.fieldNames()
                        .forEachRemaining(
                                name -> byClass.put(name, chunk.path(name).asLong()));
                counts.add(byClass);
            }
            int chunks = vector.path("chunks").asInt();
            double window = Mixing.windowChunks(
                    vector.path("shuffle_window").asLong(),
                    vector.path("lanes").asInt(),
                    vector.path("length").asLong(),
                    chunks);
            String name = vector.path("name").asText();
            assertThat(window).as(name).isCloseTo(vector.path("window_chunks").asDouble(), within(1e-9));
            Optional<Mixing> found = Mixing.measure(
                    vector.path("field").asText(),
                    counts,
                    vector.path("classes").asInt(),
                    chunks,
                    window,
                    Mixing.laneChunks(vector.path("lanes").asInt(), chunks));
            JsonNode expected = vector.path("expected");
            assertThat(found.isEmpty()).as(name).isEqualTo(expected.isNull());
            found.ifPresent(mixing -> {
                assertThat(mixing.datasetClasses())
                        .as(name)
                        .isCloseTo(expected.path("dataset_classes").asDouble(), within(1e-6));
                assertThat(mixing.windowClasses())
                        .as(name)
                        .isCloseTo(expected.path("window_classes").asDouble(), within(1e-6));
                assertThat(mixing.isPoor())
                        .as(name)
                        .isEqualTo(expected.path("poor").asBoolean());
                assertThat(mixing.warning()).isEqualTo(expected.path("warning").asText());
            });
        }
    }

    @Test
    void headsAreChosenEvenly() throws IOException {
        for (JsonNode vector : vectors().path("chosen")) {
            List<Integer> places = new ArrayList<>();
            vector.path("places").forEach(place -> places.add(place.asInt()));
            assertThat(Mixing.chosen(vector.path("chunks").asInt()))
                    .containsExactly(places.stream().mapToInt(Integer::intValue).toArray());
        }
    }

    @Test
    void chunksOfOneClassEachAreSortedUnlessTheWindowHoldsThem() throws IOException {
        Snapshot sorted = committed("cat/1 cat/2 cat/3", "dog/1 dog/2 dog/3", "emu/1 emu/2 emu/3", "fox/1 fox/2 fox/3");
        assertThat(Mixing.of(store, sorted, "train", spec(1, ShufflePolicy.WINDOW)))
                .singleElement()
                .satisfies(mixing -> {
                    assertThat(mixing.isPoor()).isTrue();
                    assertThat(mixing.warning()).contains("sorted by label", "mixes about 1.0 of the dataset's ");
                });
        assertThat(Mixing.of(store, sorted, "train", spec(1 << 30, ShufflePolicy.WINDOW)))
                .singleElement()
                .satisfies(mixing -> assertThat(mixing.isPoor()).isFalse());
        assertThat(Mixing.of(store, sorted, "train", spec(1, ShufflePolicy.NONE)))
                .isEmpty();
        assertThat(Mixing.of(store, sorted, "val", spec(1, ShufflePolicy.WINDOW)))
                .isEmpty();
    }

    @Test
    void mixedChunksAreNotSorted() throws IOException {
        Snapshot mixed = committed("cat/1 dog/1 emu/1", "cat/2 dog/2 emu/2", "cat/3 dog/3 emu/3");
        assertThat(Mixing.of(store, mixed, "train", spec(1, ShufflePolicy.WINDOW)))
                .singleElement()
                .satisfies(mixing -> assertThat(mixing.isPoor()).isFalse());
    }

    private static OrderSpec spec(long window, ShufflePolicy shuffle) {
        return new OrderSpec(0, 4, 1, window, shuffle, LaneOrder.MIXED);
    }

    private Snapshot committed(String... chunks) throws IOException {
        Dataset dataset = Dataset.create(store, SampleDatasets.info());
        List<ChunkSummary> written = new ArrayList<>();
        TreeSet<String> classes = new TreeSet<>();
        for (String chunk : chunks) {
            String[] keys = chunk.split(" ");
            for (String key : keys) {
                classes.add(key.substring(0, key.indexOf('/')));
            }
            written.add(SampleDatasets.write(store, SampleDatasets.id(written.size()), "ingest", "train", keys));
        }
        SampleDatasets.committer(dataset)
                .commit(VersionRequest.append("ingest", written, Map.of("label", List.copyOf(classes)), Map.of()));
        return dataset.snapshot();
    }
}
