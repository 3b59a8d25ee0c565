package dev.stoker.metadata.erasure;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.SampleDatasets.write;
import static dev.stoker.metadata.erasure.ErasableDataset.check;
import static dev.stoker.metadata.erasure.ErasableDataset.containing;
import static dev.stoker.metadata.erasure.ErasableDataset.keys;
import static dev.stoker.metadata.erasure.ErasableDataset.plan;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.TablePolicy;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.verify.Verification;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.dataset.ErasedClass;
import dev.stoker.schemas.dataset.Erasure;
import dev.stoker.schemas.log.ErasedClasses;
import dev.stoker.schemas.table.ClassTable;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.FaultyObjectStore.Operation;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Classes that only erased samples have lose their names, and no class gets another id. {@code zedekiah} is declared in
 * dataset.json and occurs again in version 4, {@code danielle} comes with version 1 and occurs again in version 2, and
 * version 3 has a chunk table.
 */
class ClassErasureTest {

    private static final String[] ERASED = {"danielle/1", "danielle/2", "zedekiah/1"};
    private static final Set<String> NAMES = Set.of("danielle", "zedekiah");
    private static final Map<String, Integer> IDS = Map.of("cat", 1, "dog", 3, "fox", 4, "zoo", 5);

    private InMemoryObjectStore store;

    @BeforeEach
    void create() throws IOException {
        store = new InMemoryObjectStore(CLOCK);
        Dataset dataset =
                Dataset.create(store, SampleDatasets.info().withClasses(Map.of("label", List.of("zedekiah", "cat"))));
        append(dataset, "a", List.of("cat", "danielle"), write(store, id(1), "a", "train", "cat/1", "danielle/1"));
        append(dataset, "b", List.of("danielle", "dog"), write(store, id(2), "b", "train", "danielle/2", "dog/1"));
        append(dataset, "c", List.of("fox"), write(store, id(3), "c", "val", "fox/1"));
        append(dataset, "d", List.of("zedekiah", "zoo"), write(store, id(4), "d", "train", "zedekiah/1", "zoo/1"));
        assertThat(store.list(DatasetLayout.TABLES).toList())
                .extracting(o -> o.name())
                .containsExactly(DatasetLayout.table(3));
    }

    private static void append(Dataset dataset, String ingest, List<String> classes, ChunkSummary... chunks)
            throws IOException {
        new VersionCommitter(dataset, CLOCK, "ada", new TablePolicy(3, 4096))
                .commit(VersionRequest.append(ingest, List.of(chunks), Map.of("label", classes), Map.of()));
    }

    /** The ids of the classes that stay, in each version that has them. */
    private static void requireIds(ObjectStore store, String where) throws IOException {
        Dataset dataset = Dataset.open(store);
        for (long version = 1; version <= dataset.latestVersion(); version++) {
            ClassTable classes = dataset.anySnapshot(version).classes();
            Map<String, Integer> ids = new TreeMap<>();
            for (String name : IDS.keySet()) {
                classes.id("label", name).ifPresent(id -> ids.put(name, id));
            }
            Map<String, Integer> expected = new TreeMap<>(IDS);
            if (version < 4) {
                expected.remove("zoo");
            }
            if (version < 3) {
                expected.remove("fox");
            }
            if (version < 2) {
                expected.remove("dog");
            }
            assertThat(ids).as("version " + version + ", " + where).isEqualTo(expected);
        }
    }

    private static void requireErased(InMemoryObjectStore store, Erasure certificate, String where)
            throws IOException, InterruptedException {
        assertThat(containing(store, NAMES)).as(where).isEmpty();
        requireIds(store, where);
        Dataset dataset = Dataset.open(store);
        List<String> names = dataset.snapshot().classes().names("label");
        assertThat(names).as(where).hasSize(6);
        assertThat(List.of(names.get(0), names.get(2))).as(where).allMatch(ErasedClasses::isTombstone);
        assertThat(certificate.result().orElseThrow().classes())
                .as(where)
                .extracting(ErasedClass::id, ErasedClass::tombstone)
                .containsExactlyInAnyOrder(tuple(0, names.get(0)), tuple(2, names.get(2)));
        assertThat(check(store, certificate).findings()).as(where).isEmpty();
        assertThat(check(store, certificate).again()).as(where).isEmpty();
        assertThat(new Verification(dataset, Runnable::run, 1, bytes -> {})
                        .run(dataset.snapshot())
                        .problems())
                .as(where)
                .isEmpty();
    }

    @Test
    void noFileHasTheNamesAndAllIdsStay() throws Exception {
        Erasure certificate = ErasableDataset.erase(store, ERASED);

        requireErased(store, certificate, "at the end");
        assertThat(certificate.result().orElseThrow().files())
                .contains(
                        DatasetLayout.DATASET_JSON,
                        DatasetLayout.DATASET_COPY,
                        DatasetLayout.logEntry(1),
                        DatasetLayout.logEntry(2),
                        DatasetLayout.ingestCopy("d"),
                        DatasetLayout.table(3))
                .doesNotContain(DatasetLayout.logEntry(3));
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"CRASH_BEFORE", "CRASH_AFTER", "UNKNOWN_AFTER_EFFECT"})
    void afterACrashAtAnyCallTheIdsAreRightAndTheErasureCanBeFinished(Fault fault) throws Exception {
        boolean isReached = true;
        int step = 0;
        for (; isReached; step++) {
            InMemoryObjectStore copy = store.copy();
            int at = step;
            List<FaultyObjectStore.Call> steps = new ArrayList<>();
            FaultyObjectStore faulty = new FaultyObjectStore(copy)
                    .on(call -> call.operation().changes() && steps.add(call) && steps.size() == at + 1, fault);
            try {
                ErasableDataset.erase(faulty, ERASED);
            } catch (IOException | FaultyObjectStore.SimulatedCrash e) {
                // The test injects these faults.
            }
            isReached = steps.size() > step;
            String where = fault + " at step " + step + ": " + (isReached ? steps.get(step) : "none");
            requireIds(copy, where);

            requireErased(copy, finished(copy), where);
        }
        assertThat(step).isGreaterThan(30);
    }

    private static Erasure finished(ObjectStore store) throws IOException, InterruptedException {
        try {
            return ErasableDataset.erase(store, ERASED);
        } catch (UnerasableKeyException e) {
            return new ErasureFiles(Dataset.open(store)).find("erase-1").orElseThrow();
        }
    }

    @Test
    void aNameThatAnotherSampleHasStays() throws Exception {
        Erasure certificate = ErasableDataset.erase(store, "danielle/1", "zedekiah/1");

        assertThat(certificate.result().orElseThrow().classes())
                .extracting(ErasedClass::id)
                .containsExactly(0);
        assertThat(Dataset.open(store).snapshot().classes().id("label", "danielle"))
                .hasValue(2);
        assertThat(containing(store, Set.of("zedekiah"))).isEmpty();
    }

    @Test
    void aNameOfASampleThatIsAddedDuringTheErasureStays() throws Exception {
        Dataset dataset = Dataset.open(store);
        ErasureRun run = new ErasureRun(dataset, ErasableDataset.work());
        Erasure erasure = run.begin("erase-1", plan(store, keys(ERASED)));
        append(dataset, "later", List.of("danielle"), write(store, id(9), "later", "train", "danielle/9"));

        Erasure certificate = run.finish(erasure);

        assertThat(certificate.result().orElseThrow().classes())
                .extracting(ErasedClass::id)
                .containsExactly(0);
        assertThat(dataset.snapshot().classes().id("label", "danielle")).hasValue(2);
        requireIds(store, "at the end");
    }

    @Test
    void aNameThatIsUsedAgainWhileItIsReplacedGetsANewId() throws Exception {
        FaultyObjectStore faulty =
                new FaultyObjectStore(store).on(call -> call.operation() == Operation.REPLACE, Fault.CRASH_BEFORE);
        try {
            ErasableDataset.erase(faulty, ERASED);
        } catch (FaultyObjectStore.SimulatedCrash e) {
            // As intended.
        }
        Dataset dataset = Dataset.open(store);
        append(
                dataset,
                "later",
                List.of("danielle", "gnu"),
                write(store, id(9), "later", "train", "danielle/9", "gnu/1"));
        ClassTable before = dataset.snapshot().classes();

        Erasure certificate = finished(store);

        assertThat(before.id("label", "danielle")).hasValue(6);
        assertThat(before.id("label", "gnu")).hasValue(7);
        assertThat(dataset.snapshot().classes()).isEqualTo(before);
        requireIds(store, "at the end");
        assertThat(check(store, certificate).findings()).isEmpty();
        assertThat(check(store, certificate).again())
                .singleElement()
                .satisfies(finding -> assertThat(finding.message())
                        .isEqualTo("contains 1 erased class name, added after the erasure"));
        assertThat(new Verification(dataset, Runnable::run, 1, bytes -> {})
                        .run(dataset.snapshot())
                        .problems())
                .isEmpty();
    }

    @Test
    void theVerificationFindsANameInEachKindOfFile() throws Exception {
        InMemoryObjectStore before = store.copy();
        Erasure certificate = ErasableDataset.erase(store, ERASED);

        for (String name : List.of(
                DatasetLayout.DATASET_JSON,
                DatasetLayout.DATASET_COPY,
                DatasetLayout.logEntry(1),
                DatasetLayout.ingestCopy("b"),
                DatasetLayout.table(3))) {
            byte[] after = store.readAll(name, Integer.MAX_VALUE);
            store.replace(name, before.readAll(name, Integer.MAX_VALUE));

            assertThat(check(store, certificate).findings()).singleElement().satisfies(finding -> {
                assertThat(finding.file()).isEqualTo("/memory/" + name);
                assertThat(finding.message()).startsWith("names an erased class");
            });
            store.replace(name, after);
        }
        assertThat(check(store, certificate).findings()).isEmpty();
    }

    @Test
    void listsOfSkippedFilesAndDeadLettersLoseTheNames() throws Exception {
        String list = "_stoker/skipped/a/00000000-0000-0000-0000-000000000001.jsonl";
        put(list, "{\"file\":\"/in/danielle/7\"}\n{\"file\":\"/in/cat/7\",\"reason\":\"danielle\"}\n");
        String letters = "_stoker/dead-letters/clicks/0/";
        // {"label":"danielle"} in Base64.
        put(letters + "1.json", "{\"key\":null,\"value\":\"eyJsYWJlbCI6ImRhbmllbGxlIn0=\"}\n");
        put(letters + "2.json", "{\"key\":null,\"value\":\"eyJsYWJlbCI6ImRhbiJ9\"}\n");

        Erasure certificate = ErasableDataset.erase(store, ERASED);

        assertThat(new String(store.readAll(list, 1000), StandardCharsets.UTF_8))
                .isEqualTo("{\"file\":\"/in/cat/7\",\"reason\":\"danielle\"}\n");
        assertThat(store.list(letters).toList()).extracting(o -> o.name()).containsExactly(letters + "2.json");
        assertThat(check(store, certificate).findings()).isEmpty();
    }

    private void put(String name, String text) {
        store.createIfAbsent(name, text.getBytes(StandardCharsets.UTF_8));
    }
}
