package dev.stoker.metadata.erasure;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.committer;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.SampleDatasets.info;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.compaction.CompactionRules;
import dev.stoker.metadata.compaction.CompactionThreads;
import dev.stoker.metadata.index.build.BuildThreads;
import dev.stoker.metadata.index.build.IndexBuild;
import dev.stoker.metadata.removal.SampleRemoval;
import dev.stoker.metadata.removal.SampleRule;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.dataset.Erasure;
import dev.stoker.schemas.log.Operation;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;

/**
 * A dataset in memory with four versions: the sample {@code cat/ann} was replaced in version 3, and {@code cat/bob} was
 * deleted in version 4. It has a sample index.
 */
final class ErasableDataset {

    static final String ANN = "cat/ann";
    static final String BOB = "cat/bob";
    static final String NEW_ANN = "another image of cat/ann";

    private ErasableDataset() {}

    static InMemoryObjectStore create() throws IOException, InterruptedException {
        InMemoryObjectStore store = new InMemoryObjectStore(CLOCK);
        Dataset dataset = Dataset.create(store, info());
        append(
                dataset,
                "a",
                SampleDatasets.write(store, id(1), "a", "train", ANN, "dog/1", "cat/2"),
                SampleDatasets.write(store, id(2), "a", "val", "dog/2"));
        append(dataset, "b", SampleDatasets.write(store, id(3), "b", "train", "cat/3", BOB));
        ChunkSummary replacing =
                SampleDatasets.write(store, id(4), "c", "train", Map.of(ANN, NEW_ANN.getBytes(StandardCharsets.UTF_8)));
        committer(dataset)
                .commit(new VersionRequest(
                        "c",
                        Operation.INGEST,
                        List.of(replacing),
                        base -> List.of(RemovedRows.of(0, 0)),
                        Map.of("label", List.of("cat")),
                        Map.of()));
        committer(dataset).commit(VersionRequest.remove("d", SampleRemoval.ofKeys(dataset, List.of(BOB)), Map.of()));
        new IndexBuild(dataset, BuildThreads.ofCaller(), rows -> {}).update();
        return store;
    }

    static void append(Dataset dataset, String ingest, ChunkSummary... chunks) throws IOException {
        committer(dataset)
                .commit(VersionRequest.append(
                        ingest, List.of(chunks), Map.of("label", List.of("cat", "dog")), Map.of()));
    }

    static ErasureWork work() {
        return work(CLOCK);
    }

    static ErasureWork work(InstantSource clock) {
        return new ErasureWork(
                new CompactionRules(1 << 16, 1 << 16, OptionalLong.empty()),
                new CompactionThreads(1, 1, 1 << 24),
                BuildThreads.ofCaller(),
                clock,
                "eve",
                chunk -> {});
    }

    static SampleRule keys(String... keys) {
        return SampleRule.ofKeys(List.of(keys));
    }

    static ErasurePlan plan(ObjectStore store, SampleRule rule) throws IOException {
        return new ErasurePlanner(Dataset.open(store), work()).plan(rule, Optional.empty());
    }

    /** As the command does it: finishes interrupted erasures, and then erases what is left. */
    static Erasure erase(ObjectStore store, SampleRule rule) throws IOException, InterruptedException {
        Dataset dataset = Dataset.open(store);
        ErasureRun run = new ErasureRun(dataset, work());
        Optional<Erasure> last = Optional.empty();
        for (Erasure erasure : new ErasureFiles(dataset).unfinished()) {
            last = Optional.of(run.finish(erasure));
        }
        ErasurePlan plan = new ErasurePlanner(dataset, work()).plan(rule, last);
        if (plan.isEmpty()) {
            return last.orElseThrow();
        }
        return run.finish(run.begin("erase-" + (new ErasureFiles(dataset).ids().size() + 1), plan));
    }

    static Erasure erase(ObjectStore store, String... keys) throws IOException, InterruptedException {
        return erase(store, keys(keys));
    }

    static ErasureCheck.Report check(ObjectStore store, Erasure certificate) throws IOException {
        return new ErasureCheck(Dataset.open(store), certificate, "certificate.json", 1, CLOCK, chunk -> {}).run();
    }

    /** The payload of each sample of the newest version by its split and key. */
    static Map<String, String> samples(ObjectStore store) throws IOException {
        Map<String, String> samples = new TreeMap<>();
        ChunkTable table = Dataset.open(store).snapshot().table();
        for (int i = 0; i < table.size(); i++) {
            if (!table.isLive(i)) {
                continue;
            }
            ChunkHead head = ChunkHeads.read(store, table, i);
            byte[] file = store.readAll(ChunkNames.path(table.id(i)), Integer.MAX_VALUE);
            for (int row = 0; row < head.rows(); row++) {
                if (table.isLive(i, row)) {
                    int from = head.payloadPosition(1, row);
                    samples.put(
                            table.split(i) + ":" + head.key(row),
                            new String(
                                    Arrays.copyOfRange(file, from, from + head.payloadLength(1, row)),
                                    StandardCharsets.UTF_8));
                }
            }
        }
        return samples;
    }

    /** The names of all objects and unfinished files that contain one of the texts. */
    static List<String> containing(InMemoryObjectStore store, Set<String> texts) throws IOException {
        List<String> names = new ArrayList<>();
        for (ObjectInfo object : store.list("").toList()) {
            // One character for each byte.
            String content = new String(store.readAll(object.name(), Integer.MAX_VALUE), StandardCharsets.ISO_8859_1);
            if (texts.stream().anyMatch(content::contains)) {
                names.add(object.name());
            }
        }
        store.listUnfinished("").toList().forEach(file -> names.add(file.name()));
        return names;
    }
}
