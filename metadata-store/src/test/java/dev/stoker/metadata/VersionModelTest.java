package dev.stoker.metadata;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.summary;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.commit.Removal;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.log.Operation;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.schemas.testing.Rounds;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** Random commits, failures included, against a model that knows no tables, no log and no columns. */
class VersionModelTest {

    /** A chunk of a version: the rows that are left. */
    private record ModelChunk(ChunkSummary summary, TreeSet<Integer> rows) {}

    /** A version: chunks by ordinal, class names in the order of their ids. */
    private record Model(TreeMap<Long, ModelChunk> chunks, List<String> classes) {
        Model copy() {
            TreeMap<Long, ModelChunk> copied = new TreeMap<>();
            chunks.forEach(
                    (ordinal, chunk) -> copied.put(ordinal, new ModelChunk(chunk.summary, new TreeSet<>(chunk.rows))));
            return new Model(copied, new ArrayList<>(classes));
        }
    }

    private static final List<String> SPLITS = List.of("train", "val", "test");

    private InMemoryObjectStore memory;
    private List<Model> versions;
    private Map<String, Long> ingests;
    private int chunkNumber;

    @Test
    void everyVersionIsWhatTheModelSays(TestInfo test) {
        Rounds.of(test).seconds(2).run((random, round) -> everyVersionIsWhatTheModelSays(random));
    }

    private void everyVersionIsWhatTheModelSays(Random random) throws IOException {
        memory = new InMemoryObjectStore(CLOCK);
        versions = new ArrayList<>(List.of(new Model(new TreeMap<>(), new ArrayList<>())));
        ingests = new HashMap<>();
        chunkNumber = 0;
        Dataset dataset = Dataset.create(memory, info());
        TablePolicy tables = new TablePolicy(1 + random.nextInt(6), 1 + random.nextInt(20));
        for (int step = 0; step < 150; step++) {
            FaultyObjectStore faulty = new FaultyObjectStore(memory);
            if (random.nextInt(3) == 0) {
                int at = random.nextInt(20);
                Fault fault = Fault.values()[random.nextInt(Fault.values().length)];
                faulty.on(call -> call.number() == at, fault);
            }
            String ingest = random.nextInt(10) == 0 && !ingests.isEmpty()
                    ? List.copyOf(ingests.keySet()).get(random.nextInt(ingests.size()))
                    : "ingest-" + step;
            Model next = versions.get(versions.size() - 1).copy();
            VersionRequest request = change(ingest, next, random);
            try {
                new VersionCommitter(Dataset.open(faulty), CLOCK, "ada", tables).commit(request);
            } catch (IOException | FaultyObjectStore.SimulatedCrash e) {
                // Whether it took place is seen below.
            }
            long newest = dataset.latestVersion();
            if (ingests.containsKey(ingest) || newest == versions.size() - 1) {
                assertThat(newest).as("step " + step).isEqualTo(versions.size() - 1L);
            } else {
                assertThat(newest).as("step " + step).isEqualTo(versions.size());
                versions.add(next);
                ingests.put(ingest, newest);
            }
            compare(dataset, 1 + random.nextInt(versions.size()));
        }
        for (int version = 1; version < versions.size(); version++) {
            compare(dataset, version);
        }
        for (Map.Entry<String, Long> ingest : ingests.entrySet()) {
            assertThat(new VersionCommitter(dataset, CLOCK, "ada")
                            .find(ingest.getKey())
                            .orElseThrow()
                            .version())
                    .isEqualTo(ingest.getValue());
        }
        assertThat(versions.size()).isGreaterThan(60);
    }

    private VersionRequest change(String ingest, Model model, Random random) throws IOException {
        List<ChunkSummary> added = new ArrayList<>();
        TreeSet<String> classes = new TreeSet<>();
        List<RemovedRows> removed = new ArrayList<>();
        Operation operation = random.nextInt(8) == 0 ? Operation.REPLACE : Operation.INGEST;
        boolean removes = random.nextInt(3) == 0;
        long nextOrdinal = model.chunks.isEmpty() ? 0 : model.chunks.lastKey() + 1;
        if (operation == Operation.REPLACE) {
            model.chunks.values().forEach(chunk -> chunk.rows.clear());
        } else if (removes) {
            removeSome(model, removed, random);
        }
        for (int n = removes ? 0 : random.nextInt(5); n > 0; n--) {
            SampleDatasets.place(memory, chunkNumber, chunkNumber);
            ChunkSummary chunk = summary(chunkNumber++, SPLITS.get(random.nextInt(3)), 1 + random.nextInt(6));
            added.add(chunk);
            TreeSet<Integer> rows = new TreeSet<>();
            for (int row = 0; row < chunk.rows(); row++) {
                rows.add(row);
            }
            model.chunks.put(nextOrdinal++, new ModelChunk(chunk, rows));
            classes.add("class-" + random.nextInt(30));
        }
        classes.stream().filter(name -> !model.classes.contains(name)).forEach(model.classes::add);
        Removal removal = operation == Operation.REPLACE ? Removal.EVERYTHING : base -> removed;
        return new VersionRequest(ingest, operation, added, removal, Map.of("label", List.copyOf(classes)), Map.of());
    }

    private void removeSome(Model model, List<RemovedRows> removed, Random random) {
        model.chunks.forEach((ordinal, chunk) -> {
            if (random.nextInt(4) != 0) {
                return;
            }
            if (random.nextInt(3) == 0) {
                removed.add(RemovedRows.wholeChunk(ordinal));
                chunk.rows.clear();
                return;
            }
            // The removal can name rows that were removed before.
            int[] rows =
                    random.ints(3, 0, chunk.summary.rows()).sorted().distinct().toArray();
            removed.add(RemovedRows.of(ordinal, rows));
            for (int row : rows) {
                chunk.rows.remove(row);
            }
        });
    }

    private void compare(Dataset dataset, long version) throws IOException {
        if (version >= versions.size()) {
            return;
        }
        Model model = versions.get((int) version);
        Snapshot snapshot = dataset.snapshot(version);
        assertThat(snapshot.classes().names("label")).isEqualTo(model.classes);
        assertThat(snapshot.table().size()).isEqualTo(model.chunks.size());
        assertThat(snapshot.table().liveRows())
                .isEqualTo(model.chunks.values().stream()
                        .mapToLong(chunk -> chunk.rows.size())
                        .sum());
        Map<String, List<Long>> bySplit = new LinkedHashMap<>();
        model.chunks.forEach((ordinal, chunk) -> bySplit.computeIfAbsent(chunk.summary.split(), s -> new ArrayList<>())
                .add(ordinal));
        for (String split : SPLITS) {
            StreamChunks stream = snapshot.table().stream(split);
            List<Long> ordinals = bySplit.getOrDefault(split, List.of());
            assertThat(stream.size()).isEqualTo(ordinals.size());
            for (int i = 0; i < ordinals.size(); i++) {
                ModelChunk chunk = model.chunks.get(ordinals.get(i));
                assertThat(stream.ordinal(i)).isEqualTo(ordinals.get(i));
                assertThat(stream.rows(i)).isEqualTo(chunk.summary.rows());
                assertThat(stream.isLive(i)).isEqualTo(!chunk.rows.isEmpty());
                if (stream.isLive(i)) {
                    assertThat(stream.id(i)).isEqualTo(chunk.summary.id());
                    TreeSet<Integer> left = new TreeSet<>();
                    for (int row = 0; row < chunk.summary.rows(); row++) {
                        left.add(row);
                    }
                    for (int row : stream.removedRows(i)) {
                        left.remove(row);
                    }
                    assertThat(left).isEqualTo(chunk.rows);
                }
            }
        }
    }
}
