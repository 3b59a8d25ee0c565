package dev.stoker.metadata.update;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.committer;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.write;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.commit.Commit;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.compaction.Compaction;
import dev.stoker.metadata.compaction.CompactionPlan;
import dev.stoker.metadata.compaction.CompactionResult;
import dev.stoker.metadata.compaction.CompactionRules;
import dev.stoker.metadata.compaction.CompactionThreads;
import dev.stoker.metadata.removal.SampleRule;
import dev.stoker.metadata.verify.Problem;
import dev.stoker.metadata.verify.Verification;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.io.BufferRangeReader;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.ObjectInfo;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;

/** A dataset with three chunks, whose labels are updated. */
abstract class UpdateFixture {
    static final List<Field> LABEL = List.of(Field.small("label", FieldType.parse("categorical")));

    final InMemoryObjectStore store = new InMemoryObjectStore(CLOCK);
    Dataset dataset;

    @BeforeEach
    void create() throws IOException {
        dataset = Dataset.create(store, info());
        append(
                "a",
                write(store, id(1), "a", "train", "cat/1", "dog/1", "cat/2"),
                write(store, id(2), "a", "val", "dog/2"),
                write(store, id(3), "a", "train", "cat/3", "cat/4"));
    }

    void append(String ingest, ChunkSummary... chunks) throws IOException {
        committer(dataset)
                .commit(VersionRequest.append(
                        ingest, List.of(chunks), Map.of("label", List.of("cat", "dog")), Map.of()));
    }

    /** New labels: key, label, key, label, … */
    static NewValues labels(String... keysAndLabels) throws IOException {
        ChunkBuilder builder = new ChunkBuilder(LABEL, 4096);
        for (int i = 0; i < keysAndLabels.length; i += 2) {
            builder.beginRow(keysAndLabels[i]);
            builder.setClass(0, keysAndLabels[i + 1]);
            builder.endRow();
        }
        ByteBuffer file = ByteBuffer.allocate(1 << 16);
        builder.finish(new ChunkIdentity(new UUID(0, 0), new UUID(0, 0), "table", "table", Instant.EPOCH))
                .buffers()
                .forEach(part -> file.put(part.duplicate()));
        NewValues values = new NewValues(LABEL);
        assertThat(values.add(ChunkReader.open(new BufferRangeReader("table", file.flip()))))
                .isEqualTo(-1);
        return values;
    }

    SampleUpdate update(SampleRule.MissingKeys missing, String... keysAndLabels) throws IOException {
        return new SampleUpdate(dataset, labels(keysAndLabels), missing, 2, chunks -> {});
    }

    Commit commit(String ingest, String... keysAndLabels) throws IOException {
        return update(SampleRule.MissingKeys.FAIL, keysAndLabels).commit(ingest, CLOCK, "ada@host");
    }

    /** Labels by key. */
    Map<String, String> labels(long version) throws IOException {
        return labels(dataset, version);
    }

    static Map<String, String> labels(Dataset dataset, long version) throws IOException {
        Snapshot snapshot = dataset.snapshot(version);
        ChunkTable table = snapshot.table();
        Map<String, String> labels = new TreeMap<>();
        for (int i = 0; i < table.size(); i++) {
            if (!table.isLive(i)) {
                continue;
            }
            ChunkHead head = ChunkHeads.read(dataset.store(), table, i);
            for (int row = 0; row < head.rows(); row++) {
                if (table.isLive(i, row)) {
                    int classId = head.column(0).intAt(row);
                    String label = head.classes(0).get(classId);
                    assertThat(snapshot.classes().id("label", label)).isPresent();
                    labels.put(head.key(row), label);
                }
            }
        }
        return labels;
    }

    List<String> overlays() throws IOException {
        return store.list(ChunkNames.OVERLAYS).toList().stream()
                .map(ObjectInfo::name)
                .toList();
    }

    List<String> problems() throws Exception {
        return new Verification(dataset, Runnable::run, 1, bytes -> {})
                .run(dataset.snapshot()).problems().stream()
                        .map(Problem::toString)
                        .toList();
    }

    /** Compacts all chunks. */
    static CompactionResult compact(Dataset seen) throws IOException, InterruptedException {
        CompactionRules rules = new CompactionRules(8 << 10, 16 << 10, OptionalLong.of(0));
        return new Compaction(
                        seen,
                        VersionRequest.COMPACTION + "c",
                        "ada@host",
                        CLOCK,
                        new CompactionThreads(2, 1, 1 << 20),
                        bytes -> {})
                .run(CompactionPlan.of(seen.snapshot(), rules));
    }

    interface Contender {
        void commit() throws IOException;
    }

    /** A store in which another commits when the first entry is about to be published. */
    FaultyObjectStore watched(AtomicBoolean done, Contender contender) {
        return new FaultyObjectStore(store)
                .on(
                        call -> {
                            if (call.operation() == FaultyObjectStore.Operation.CREATE
                                    && call.name().startsWith("_stoker/log/")
                                    && done.compareAndSet(false, true)) {
                                try {
                                    contender.commit();
                                } catch (IOException e) {
                                    throw new AssertionError(e);
                                }
                            }
                            return false;
                        },
                        Fault.FAIL_BEFORE);
    }
}
