package dev.stoker.metadata.commit;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.append;
import static dev.stoker.metadata.SampleDatasets.committer;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.place;
import static dev.stoker.metadata.SampleDatasets.summary;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.TablePolicy;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.log.AddedChunk;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests commits to a store without faults: the content of versions, and requests that the committer refuses. */
class VersionCommitterTest {
    private final InMemoryObjectStore memory = new InMemoryObjectStore(CLOCK);
    private Dataset dataset;

    @BeforeEach
    void create() throws IOException {
        dataset = Dataset.create(memory, info());
        place(memory, 0, 20);
    }

    @Test
    void commitsAnEntryAndItsCopy() throws IOException {
        Commit commit = committer(dataset)
                .commit(VersionRequest.append(
                        "photos-1",
                        List.of(summary(1, "train", 10), summary(2, "val", 3)),
                        Map.of("label", List.of("dog", "cat", "dog")),
                        Map.of("source", "/p")));

        assertThat(commit.version()).isEqualTo(1);
        assertThat(commit.repeated()).isFalse();
        LogEntry entry = dataset.entry(1);
        assertThat(entry).isEqualTo(commit.entry());
        assertThat(entry.operation()).isEqualTo(Operation.INGEST);
        assertThat(entry.committedMs()).isEqualTo(SampleDatasets.NOW.toEpochMilli());
        assertThat(entry.committedBy()).isEqualTo("ada@host");
        assertThat(entry.classes()).containsEntry("label", List.of("cat", "dog"));
        assertThat(entry.added()).extracting(AddedChunk::ordinal).containsExactly(0L, 1L);
        assertThat(memory.readAll(DatasetLayout.ingestCopy("photos-1"), 1 << 20))
                .isEqualTo(memory.readAll(DatasetLayout.logEntry(1), 1 << 20));
        assertThat(dataset.snapshot().table().summary(1)).isEqualTo(summary(2, "val", 3));
    }

    @Test
    void ordinalsContinue() throws IOException {
        committer(dataset).commit(append("a", summary(1, "train", 1), summary(2, "train", 1)));
        committer(dataset).commit(VersionRequest.remove("b", Removal.EVERYTHING, Map.of()));
        Commit third = committer(dataset).commit(append("c", summary(3, "train", 1)));

        assertThat(third.entry().added()).extracting(AddedChunk::ordinal).containsExactly(2L);
    }

    @Test
    void anIngestCommitsOnce() throws IOException {
        committer(dataset).commit(append("a", summary(1, "train", 1)));
        committer(dataset).commit(append("b", summary(2, "train", 1)));

        Commit again = committer(dataset).commit(append("a", summary(3, "train", 1)));

        assertThat(again.version()).isEqualTo(1);
        assertThat(again.repeated()).isTrue();
        assertThat(dataset.latestVersion()).isEqualTo(2);
        assertThat(committer(dataset).find("b").orElseThrow().version()).isEqualTo(2);
        assertThat(committer(dataset).find("c")).isEmpty();
    }

    @Test
    void replaceRemovesAllLiveChunks() throws IOException {
        committer(dataset).commit(append("a", summary(1, "train", 1), summary(2, "train", 1)));
        committer(dataset).commit(VersionRequest.remove("b", base -> List.of(RemovedRows.wholeChunk(0)), Map.of()));

        Commit commit = committer(dataset)
                .commit(VersionRequest.replace("c", List.of(summary(3, "train", 4)), Map.of(), Map.of()));

        assertThat(commit.entry().operation()).isEqualTo(Operation.REPLACE);
        assertThat(commit.entry().removed()).containsExactly(RemovedRows.wholeChunk(1));
        assertThat(dataset.snapshot().table().liveRows()).isEqualTo(4);
        assertThat(dataset.snapshot(1).table().liveRows()).isEqualTo(2);
    }

    @Test
    void publishesOnlyChunksThatAreThere() throws IOException {
        memory.delete(ChunkNames.path(id(2)));
        memory.corrupt(ChunkNames.path(id(3)), new byte[7]);

        assertThatThrownBy(() -> committer(dataset)
                        .commit(append("a", summary(1, "train", 1), summary(2, "train", 1), summary(3, "val", 1))))
                .isInstanceOf(MissingChunksException.class)
                .hasMessageContaining("Ingest a cannot be committed")
                .hasMessageContaining(ChunkNames.path(id(2)) + " is missing (2 of 3 chunks)");
        assertThatThrownBy(() -> committer(dataset).commit(append("a", summary(3, "val", 1))))
                .hasMessageContaining("has 7 bytes instead of 1003");
        assertThat(dataset.latestVersion()).isZero();
    }

    @Test
    void looksForManyChunksAtOnce() throws IOException {
        List<ChunkSummary> chunks = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            chunks.add(summary(i, "train", 1));
        }
        place(memory, 21, 98);

        assertThatThrownBy(() -> committer(dataset).commit(append("a", chunks.toArray(new ChunkSummary[0]))))
                .hasMessageContaining(ChunkNames.path(id(99)) + " is missing (1 of 100 chunks)");

        place(memory, 99, 99);
        assertThat(committer(dataset)
                        .commit(append("a", chunks.toArray(new ChunkSummary[0])))
                        .version())
                .isEqualTo(1);
    }

    @Test
    void anIngestThatWasEndedNeverCommits() throws IOException {
        committer(dataset).commit(append("before", summary(1, "train", 1)));
        LogEntry ended = committer(dataset).abandon("a");

        assertThat(ended.version()).isEqualTo(2);
        assertThat(ended.operation()).isEqualTo(Operation.ABANDON);
        assertThat(dataset.snapshot().table().liveRows()).isEqualTo(1);
        for (int later = 0; later < 2; later++) {
            assertThatThrownBy(() -> committer(dataset).commit(append("a", summary(2, "train", 1))))
                    .isInstanceOf(AbandonedException.class)
                    .hasMessageContaining("Ingest a of /memory was ended by `stoker gc --break` (version 2");
            assertThatThrownBy(() -> committer(dataset).find("a")).isInstanceOf(AbandonedException.class);
            committer(dataset).commit(append("after-" + later, summary(3 + later, "train", 1)));
        }
        assertThat(committer(dataset).abandon("a")).isEqualTo(ended);
        assertThat(dataset.latestVersion()).isEqualTo(4);
    }

    @Test
    void anIngestThatHasCommittedCannotBeEnded() throws IOException {
        committer(dataset).commit(append("a", summary(1, "train", 1)));

        assertThat(committer(dataset).abandon("a").operation()).isEqualTo(Operation.INGEST);
        assertThat(dataset.latestVersion()).isEqualTo(1);
    }

    @Test
    void anEntryThatNoReaderWouldTakeIsNotWritten() throws IOException {
        VersionCommitter committer = new VersionCommitter(dataset, CLOCK, "ada", TablePolicy.STANDARD, 2000);

        assertThatThrownBy(() -> committer.commit(VersionRequest.append(
                        "a", List.of(summary(1, "train", 1)), Map.of(), Map.of("note", "x".repeat(2000)))))
                .isInstanceOf(StokerException.class)
                .hasMessageContaining("the limit is 2000");
        assertThat(dataset.latestVersion()).isZero();
    }

    @Test
    void refusesIngestIdsThatAreNoNames() {
        for (String bad : List.of("", "a/b", "../a", ".a", "a b", "x".repeat(129))) {
            assertThatThrownBy(() -> append(bad)).as(bad).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
