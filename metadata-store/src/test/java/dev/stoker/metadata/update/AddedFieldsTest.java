package dev.stoker.metadata.update;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.diff.VersionComparison;
import dev.stoker.metadata.diff.VersionDiff;
import dev.stoker.metadata.index.AddressedSamples;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.metadata.index.SampleStat;
import dev.stoker.metadata.index.StoredSample;
import dev.stoker.metadata.index.build.BuildThreads;
import dev.stoker.metadata.rebuild.Rebuild;
import dev.stoker.metadata.recovery.Recovery;
import dev.stoker.metadata.recovery.RecoveryPlan;
import dev.stoker.metadata.removal.SampleRule;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.AddedFields;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.io.BufferRangeReader;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.ObjectInfo;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class AddedFieldsTest extends UpdateFixture {

    private static final Field SCORE = Field.nullable("score", ScalarType.INT64);
    private static final Field TEXT = Field.nullable("score", ScalarType.UTF8);
    private static final Field OTHER = Field.nullable("other", ScalarType.INT64);

    /** Values of a field: key, number or null, … */
    private static NewValues values(Field field, @Nullable Object... keysAndNumbers) throws IOException {
        ChunkBuilder builder = new ChunkBuilder(List.of(field), 4096);
        for (int i = 0; i < keysAndNumbers.length; i += 2) {
            builder.beginRow((String) keysAndNumbers[i]);
            Object value = keysAndNumbers[i + 1];
            if (value instanceof Integer number) {
                builder.setLong(0, number);
            } else if (value instanceof String text) {
                builder.setBytes(0, ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
            } else {
                builder.setNull(0);
            }
            builder.endRow();
        }
        ByteBuffer file = ByteBuffer.allocate(1 << 16);
        builder.finish(new ChunkIdentity(new UUID(0, 0), new UUID(0, 0), "table", "table", Instant.EPOCH))
                .buffers()
                .forEach(part -> file.put(part.duplicate()));
        NewValues values = new NewValues(List.of(field), AddedFields.of(List.of(field)));
        values.add(ChunkReader.open(new BufferRangeReader("table", file.flip())));
        return values;
    }

    private SampleUpdate adding(Dataset to, Field field, @Nullable Object... keysAndNumbers) throws IOException {
        return new SampleUpdate(to, values(field, keysAndNumbers), SampleRule.MissingKeys.FAIL, 2, chunks -> {});
    }

    private void add(String ingest, Field field, @Nullable Object... keysAndNumbers) throws IOException {
        adding(dataset, field, keysAndNumbers).commit(ingest, CLOCK, "ada@host");
    }

    /** Numbers by key; -1 for null. */
    private static Map<String, Long> numbers(Dataset dataset, long version, String field) throws IOException {
        Snapshot snapshot = dataset.snapshot(version);
        ChunkTable table = snapshot.table();
        int index = snapshot.info().fields().stream().map(Field::name).toList().indexOf(field);
        Map<String, Long> numbers = new TreeMap<>();
        for (int i = 0; i < table.size(); i++) {
            if (table.isLive(i)) {
                ChunkHead head = ChunkHeads.read(dataset.store(), table, i);
                assertThat(head.fields()).isEqualTo(snapshot.info().fields());
                ArrowColumn column = head.column(index);
                for (int row = 0; row < head.rows(); row++) {
                    if (table.isLive(i, row)) {
                        numbers.put(head.key(row), column.isNull(row) ? -1 : column.longAt(row));
                    }
                }
            }
        }
        return numbers;
    }

    private Map<String, Long> scores(long version) throws IOException {
        return numbers(dataset, version, "score");
    }

    private static List<String> names(Snapshot snapshot) {
        return snapshot.info().fields().stream().map(Field::name).toList();
    }

    @Test
    void samplesWithoutAValueHaveNullInUpdatedChunksOthersAndLaterOnes() throws Exception {
        add("u", SCORE, "dog/1", 7, "cat/4", 9);
        append("b", write(store, id(4), "b", "train", "cat/8"));

        assertThat(scores(3))
                .containsEntry("dog/1", 7L)
                .containsEntry("cat/4", 9L)
                .containsEntry("cat/1", -1L)
                .containsEntry("dog/2", -1L)
                .containsEntry("cat/8", -1L)
                .hasSize(7);
        assertThat(names(dataset.snapshot(3))).containsExactly("label", "score", "image");
        assertThat(names(dataset.snapshot(1))).containsExactly("label", "image");
        assertThat(dataset.info().fields()).isEqualTo(info().fields());
        assertThat(dataset.entry(2).addedFields().fields()).containsExactly(SCORE);
        assertThat(overlays()).hasSize(2);
        assertThat(labels(3)).containsEntry("dog/1", "dog").containsEntry("cat/8", "cat");
        assertThat(problems()).isEmpty();
        // A reader that does not ask a server.
        assertThat(numbers(Dataset.open(store), 3, "score")).isEqualTo(scores(3));
    }

    @Test
    void samplesByPlaceAreThoseOfTheIndex() throws Exception {
        add("u", SCORE, "dog/1", 7);
        append("b", write(store, id(4), "b", "train", "cat/8"));
        Snapshot snapshot = dataset.snapshot(3);
        SampleIndex index = SampleIndex.open(dataset, snapshot);
        AddressedSamples samples = new AddressedSamples(dataset, snapshot);

        for (String key : scores(3).keySet()) {
            SampleStat stat = index.stat(key).orElseThrow();
            assertThat(samples.stat(snapshot.table().indexOf(stat.ordinal()), stat.row()))
                    .isEqualTo(stat);
        }
    }

    @Test
    void updatesOfAnAddedFieldMergeWithOthers() throws Exception {
        add("u1", SCORE, "dog/1", 7);
        commit("u2", "dog/1", "wolf", "cat/1", "lynx");
        add("u3", OTHER, "cat/1", 3);
        add("u4", SCORE, "cat/1", 1, "dog/1", null);

        assertThat(scores(5)).containsEntry("cat/1", 1L).containsEntry("dog/1", -1L);
        assertThat(scores(4)).containsEntry("dog/1", 7L);
        assertThat(numbers(dataset, 5, "other")).containsEntry("cat/1", 3L).containsEntry("cat/3", -1L);
        assertThat(labels(5)).containsEntry("dog/1", "wolf").containsEntry("cat/1", "lynx");
        assertThat(names(dataset.snapshot())).containsExactly("label", "score", "other", "image");
        assertThat(dataset.entry(5).addedFields().isEmpty()).isTrue();
        assertThat(problems()).isEmpty();
    }

    @Test
    void aRetryRefusesAFieldOfAnotherTypeAndMergesOneOfTheSame() throws Exception {
        FaultyObjectStore watched = watched(new AtomicBoolean(), () -> add("rival", SCORE, "cat/3", 5));
        assertThatThrownBy(() ->
                        adding(Dataset.open(watched), TEXT, "dog/1", "seven").commit("second", CLOCK, "ada@host"))
                .isInstanceOf(StokerException.class)
                .hasMessageContaining("version 2 of dataset photos has a field score of type int64; it cannot be added"
                        + " with the type utf8; nothing was committed");
        assertThat(dataset.latestVersion()).isEqualTo(2);
        assertThat(overlays()).hasSize(1);

        FaultyObjectStore again = watched(new AtomicBoolean(), () -> add("rival2", OTHER, "cat/3", 6));
        adding(Dataset.open(again), OTHER, "dog/1", 8).commit("third", CLOCK, "ada@host");
        assertThat(numbers(dataset, 4, "other")).containsEntry("cat/3", 6L).containsEntry("dog/1", 8L);
        assertThat(dataset.entry(4).addedFields().isEmpty()).isTrue();
        assertThat(scores(4)).containsEntry("cat/3", 5L);
        assertThat(problems()).isEmpty();
    }

    @Test
    void anAppendThatBeganBeforeKeepsTheField() throws Exception {
        append("b", write(store, id(4), "b", "train", "cat/8"));
        FaultyObjectStore watched =
                watched(new AtomicBoolean(), () -> append("c", write(store, id(5), "c", "train", "cat/9")));
        adding(Dataset.open(watched), SCORE, "cat/8", 4).commit("u", CLOCK, "ada@host");

        assertThat(scores(dataset.latestVersion())).containsEntry("cat/8", 4L).containsEntry("cat/9", -1L);
        assertThat(problems()).isEmpty();
    }

    @Test
    void aPlanNamesTheNewFieldsAndNullsChangeNothing() throws Exception {
        UpdatePlan plan = adding(dataset, SCORE, "dog/1", 7, "cat/1", null).plan(dataset.snapshot());
        assertThat(plan.added()).containsExactly("score");
        assertThat(plan.updated()).isEqualTo(1);
        assertThat(plan.same()).isEqualTo(1);
        assertThatThrownBy(() -> add("u", SCORE, "cat/1", null)).isInstanceOf(NothingToUpdateException.class);
        add("u", SCORE, "dog/1", 7);
        assertThat(adding(dataset, SCORE, "dog/1", 8).plan(dataset.snapshot()).added())
                .isEmpty();
    }

    @Test
    void aCompactionWritesTheFieldIntoTheChunks() throws Exception {
        add("u", SCORE, "dog/1", 7);
        Map<String, Long> before = scores(2);
        compact(dataset);
        assertThat(scores(dataset.latestVersion())).isEqualTo(before);
        assertThat(dataset.snapshot().table().overlays()).isEmpty();
        assertThat(problems()).isEmpty();
        add("u2", SCORE, "cat/1", 3);
        assertThat(scores(dataset.latestVersion())).containsEntry("cat/1", 3L).containsEntry("dog/1", 7L);
        assertThat(problems()).isEmpty();
    }

    @Test
    void aComparisonCountsOnlySamplesWithAValue() throws Exception {
        add("u", SCORE, "dog/1", 7);
        for (long[] versions : new long[][] {{1, 2}, {2, 1}}) {
            VersionDiff diff = new VersionComparison(
                            dataset, dataset.snapshot(versions[0]), dataset.snapshot(versions[1]), 1, chunks -> {})
                    .run(VersionComparison.Samples.LISTED);
            assertThat(diff.samples()).extracting(VersionDiff.Sample::key).containsExactly("dog/1");
        }
    }

    @Test
    void theIndexDescribesSamplesAsTheyWerePacked() throws Exception {
        SampleIndex before = SampleIndex.open(dataset, dataset.snapshot());
        add("u", SCORE, "dog/1", 7);
        SampleIndex after = SampleIndex.open(dataset, dataset.snapshot());

        for (String key : List.of("dog/1", "cat/3")) {
            assertThat(after.stat(List.of(key))).isEqualTo(before.stat(List.of(key)));
        }
        StoredSample sample = after.get(List.of("dog/1")).get(0).orElseThrow();
        assertThat(sample.fields()).extracting(Field::name).containsExactly("label", "score", "image");
        assertThat(sample.head().column(1).longAt(sample.row())).isEqualTo(7);
        assertThat(sample.payload(2).remaining()).isEqualTo("image of dog/1".length());
        assertThat(after.get(List.of("cat/3")).get(0).orElseThrow().isNull(1)).isTrue();
    }

    @Test
    void aRecoveryTakesTheFieldsFromTheOverlays() throws Exception {
        add("u1", SCORE, "dog/1", 7);
        add("u2", OTHER, "cat/4", 9);
        Map<String, Long> before = scores(3);
        for (String ingest : List.of("u1", "u2")) {
            store.delete(DatasetLayout.ingestCopy(ingest));
        }
        store.delete(DatasetLayout.logEntry(2));
        store.delete(DatasetLayout.logEntry(3));

        RecoveryPlan plan = Recovery.plan(store, "ada@host");
        plan.apply();

        Dataset recovered = Dataset.open(store);
        long newest = recovered.latestVersion();
        assertThat(numbers(recovered, newest, "score")).isEqualTo(before);
        assertThat(numbers(recovered, newest, "other")).containsEntry("cat/4", 9L);
    }

    @Test
    void aRebuildTakesTheFieldsFromChunksAndOverlays() throws Exception {
        add("u1", SCORE, "dog/1", 7);
        compact(dataset);
        append("b", write(store, id(4), "b", "train", "cat/8"));
        add("u2", OTHER, "cat/8", 2);
        long newest = dataset.latestVersion();
        Map<String, Long> scores = scores(newest);
        Map<String, Long> others = numbers(dataset, newest, "other");
        for (String folder :
                List.of(DatasetLayout.LOG, DatasetLayout.INGESTS, "_stoker/versions/", "_stoker/tables/")) {
            for (ObjectInfo object : store.list(folder).toList()) {
                store.delete(object.name());
            }
        }
        try (Rebuild rebuild = Rebuild.plan(store, BuildThreads.ofCaller(), read -> {})) {
            rebuild.apply();
        }

        Dataset rebuilt = Dataset.open(store);
        assertThat(names(rebuilt.snapshot())).containsExactly("label", "score", "other", "image");
        assertThat(numbers(rebuilt, rebuilt.latestVersion(), "score")).isEqualTo(scores);
        assertThat(numbers(rebuilt, rebuilt.latestVersion(), "other")).isEqualTo(others);
    }
}
