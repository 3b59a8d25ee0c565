package dev.stoker.connectors.dataset.sink.committer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.commit.Removal;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.removal.SampleRemoval;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ReplacedRowsTest {

    private final InMemoryObjectStore store = new InMemoryObjectStore(SampleDatasets.CLOCK);
    private Dataset dataset;
    private Snapshot base;

    /** Chunk 0 has the samples a/1 to a/4, chunk 1 has b/1. */
    @BeforeEach
    void create() throws IOException {
        dataset = Dataset.create(store, SampleDatasets.info());
        append("base", chunk(1, "base", "a/1", "a/2", "a/3", "a/4"), chunk(2, "base", "b/1"));
        base = dataset.latest();
    }

    private ChunkSummary chunk(int number, String ingest, String... keys) throws IOException {
        return SampleDatasets.write(store, SampleDatasets.id(number), ingest, "train", keys);
    }

    private void append(String ingest, ChunkSummary... chunks) throws IOException {
        commit(VersionRequest.append(ingest, List.of(chunks), Map.of("label", List.of("a", "b")), Map.of()));
    }

    private void commit(VersionRequest request) throws IOException {
        SampleDatasets.committer(dataset).commit(request);
    }

    /** Moves the samples of both chunks into another one. */
    private void compact(int number, String... keys) throws IOException {
        String id = VersionRequest.COMPACTION + number;
        commit(VersionRequest.compact(
                id,
                List.of(chunk(number, id, keys)),
                Removal.EVERYTHING,
                Map.of("label", List.of("a", "b")),
                Map.of()));
    }

    private ReplacedRows rows(List<ChunkSummary> own, RemovedRows... rows) {
        return new ReplacedRows(store, own, List.of(rows), base.version(), 2);
    }

    @Test
    void removesTheRowsThatWereFoundWhilePacking() throws IOException {
        ReplacedRows rows = rows(List.of(), RemovedRows.of(0, 1, 3), RemovedRows.of(1, 0));

        assertThat(rows.from(base)).containsExactly(RemovedRows.of(0, 1, 3), RemovedRows.wholeChunk(1));
        assertThat(rows.count()).isEqualTo(3);
    }

    @Test
    void namesNoRowThatAnotherWriterHasRemoved() throws IOException {
        commit(VersionRequest.remove("gone", SampleRemoval.ofKeys(dataset, List.of("a/2", "a/3")), Map.of()));
        ReplacedRows rows = rows(List.of(), RemovedRows.of(0, 1, 2, 3));

        assertThat(rows.from(dataset.latest())).containsExactly(RemovedRows.of(0, 3));
        assertThat(rows.count()).isEqualTo(1);
    }

    @Test
    void findsTheSamplesThatACompactionHasMoved() throws IOException {
        ReplacedRows rows = rows(List.of(), RemovedRows.of(0, 0, 1, 3), RemovedRows.of(1, 0));
        compact(3, "b/1", "a/4", "a/3", "a/2", "a/1");

        assertThat(rows.from(dataset.latest())).containsExactly(RemovedRows.of(2, 0, 1, 3, 4));
        assertThat(rows.count()).isEqualTo(4);

        compact(4, "a/1", "a/2", "a/3", "a/4", "b/1");

        assertThat(rows.from(dataset.latest())).containsExactly(RemovedRows.of(3, 0, 1, 3, 4));
        assertThat(rows.count()).isEqualTo(4);
    }

    @Test
    void replacesTheSamplesThatAnotherWriterHasAdded() throws IOException {
        ReplacedRows rows = rows(List.of(chunk(9, "own", "a/2", "c/1", "c/2", "c/3", "c/4")), RemovedRows.of(0, 1));
        append("other", chunk(5, "other", "c/3", "d/1", "c/1"), chunk(6, "other", "c/2"));

        assertThat(rows.from(dataset.latest()))
                .containsExactly(RemovedRows.of(0, 1), RemovedRows.of(2, 0, 2), RemovedRows.wholeChunk(3));
        assertThat(rows.count()).isEqualTo(4);
    }
}
