package dev.stoker.metadata.recovery;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.committer;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.write;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.Tags;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.compaction.Compaction;
import dev.stoker.metadata.compaction.CompactionPlan;
import dev.stoker.metadata.compaction.CompactionRules;
import dev.stoker.metadata.compaction.CompactionThreads;
import dev.stoker.metadata.gc.Expiry;
import dev.stoker.metadata.gc.GarbageCollection;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.log.Operation;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.ObjectInfo;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The whole log is lost after chunks were compacted and their versions were expired. */
class RecoveryAfterExpiryTest {

    private final InMemoryObjectStore store = new InMemoryObjectStore(CLOCK);
    private Dataset dataset;

    @BeforeEach
    void create() throws IOException {
        dataset = Dataset.create(store, info());
        append("a", write(store, id(1), "a", "train", "cat/1", "cat/2"));
        append("b", write(store, id(2), "b", "train", "cat/3", "cat/4"));
    }

    private void append(String ingest, ChunkSummary chunk) throws IOException {
        committer(dataset)
                .commit(VersionRequest.append(ingest, List.of(chunk), Map.of("label", List.of("cat")), Map.of()));
    }

    private void compact(String ingest) throws IOException, InterruptedException {
        CompactionPlan plan =
                CompactionPlan.of(dataset.snapshot(), new CompactionRules(1 << 20, 1 << 20, OptionalLong.empty()));
        new Compaction(dataset, ingest, "ada@host", CLOCK, new CompactionThreads(1, 1, 1 << 24), bytes -> {}).run(plan);
    }

    private void expireAndCollect(String ingest) throws IOException {
        Expiry.plan(dataset, new Expiry.Rule(Optional.empty(), OptionalLong.of(1)), CLOCK)
                .commit(ingest, "ada@host");
        GarbageCollection.plan(dataset, Duration.ZERO, CLOCK).apply();
    }

    private void loseTheLog() throws IOException {
        for (String directory :
                List.of(DatasetLayout.LOG, DatasetLayout.INGESTS, DatasetLayout.VERSIONS, DatasetLayout.TABLES)) {
            for (ObjectInfo object : store.list(directory).toList()) {
                store.delete(object.name());
            }
        }
    }

    private List<String> keys() throws IOException {
        Snapshot snapshot = dataset.snapshot();
        List<String> keys = new ArrayList<>();
        for (int i = 0; i < snapshot.table().size(); i++) {
            if (snapshot.table().isLive(i)) {
                ChunkHead head = ChunkHeads.read(store, snapshot.table(), i);
                for (int row = 0; row < head.rows(); row++) {
                    if (!ChunkHeads.isRemoved(snapshot.table(), i, row)) {
                        keys.add(head.key(row));
                    }
                }
            }
        }
        return keys;
    }

    @Test
    void aCompactionComesBackIfTheChunksThatItHadRewrittenAreGone() throws Exception {
        compact("compact-1");
        expireAndCollect("expire-1");
        assertThat(store.list(DatasetLayout.CHUNKS).toList()).hasSize(1);
        loseTheLog();

        RecoveryPlan plan = Recovery.plan(store, "eve");
        assertThat(plan.notes()).anyMatch(note -> note.contains("The chunks of compaction compact-1 come back"));
        plan.apply();

        assertThat(keys()).containsExactlyInAnyOrder("cat/1", "cat/2", "cat/3", "cat/4");
        assertThat(dataset.entry(1).operation()).isEqualTo(Operation.RECOVERED);
    }

    @Test
    void noSampleComesBackTwice() throws Exception {
        new Tags(dataset).set("first", 1, Tags.Mode.CREATE, CLOCK, "ada@host");
        compact("compact-1");
        append("c", write(store, id(3), "c", "train", "cat/5"));
        compact("compact-2");
        expireAndCollect("expire-1");
        assertThat(store.list(DatasetLayout.CHUNKS).toList())
                .as("of ingest a and compact-2")
                .hasSize(2);
        loseTheLog();
        Recovery.plan(store, "eve").apply();

        assertThat(keys()).containsExactlyInAnyOrder("cat/1", "cat/2", "cat/3", "cat/4", "cat/5");
    }

    @Test
    void aCompactionIsLeftOutAsLongAsTheChunksThatItHadRewrittenAreThere() throws Exception {
        compact("compact-1");
        loseTheLog();
        RecoveryPlan plan = Recovery.plan(store, "eve");
        assertThat(plan.notes()).anyMatch(note -> note.contains("was made by a compaction and is left out"));
        plan.apply();

        assertThat(dataset.latestVersion()).isEqualTo(2);
        assertThat(keys()).containsExactlyInAnyOrder("cat/1", "cat/2", "cat/3", "cat/4");
    }
}
