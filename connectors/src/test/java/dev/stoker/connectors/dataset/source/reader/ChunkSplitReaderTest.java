package dev.stoker.connectors.dataset.source.reader;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.connectors.dataset.DatasetScan;
import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.connectors.dataset.EveryTypeDataset;
import dev.stoker.connectors.dataset.source.enumerator.EnumeratorState;
import dev.stoker.connectors.dataset.source.enumerator.EnumeratorStateSerializer;
import dev.stoker.connectors.dataset.source.split.ChunkSplit;
import dev.stoker.connectors.dataset.source.split.ChunkSplitSerializer;
import dev.stoker.connectors.dataset.source.split.ChunkSplitState;
import dev.stoker.connectors.dataset.source.split.SourceChunk;
import dev.stoker.metadata.Dataset;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.connector.base.source.reader.RecordsWithSplitIds;
import org.apache.flink.connector.base.source.reader.splitreader.SplitsAddition;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChunkSplitReaderTest {

    @TempDir
    Path directory;

    private ChunkSplit all;

    @BeforeEach
    void createDataset() throws IOException {
        EveryTypeDataset dataset = EveryTypeDataset.create(directory);
        dataset.append("train", 3, 4);
        dataset.remove(1, 0, 2);
        try (ObjectStore store = DatasetStore.BY_LOCATION.open(directory.toString())) {
            ChunkTable table = Dataset.open(store).snapshot().table();
            List<SourceChunk> chunks = new ArrayList<>();
            for (int i = 0; i < table.size(); i++) {
                chunks.add(new SourceChunk(table.ordinal(i), table.summary(i), table.removedRows(i)));
            }
            all = new ChunkSplit(2, chunks, 0);
        }
    }

    /** Reads some rows of a split, and returns the split with the remaining rows. */
    private ChunkSplit read(ChunkSplit split, int most, List<String> rows) throws IOException {
        DatasetScan scan = new DatasetScan(
                DatasetStore.BY_LOCATION,
                directory.toString(),
                2,
                List.of("key"),
                List.of(),
                List.of(),
                List.of(),
                Long.MAX_VALUE);
        ChunkSplitReader reader = new ChunkSplitReader(new ReaderStore(scan));
        reader.handleSplitsChanges(new SplitsAddition<>(List.of(split)));
        ChunkSplitState state = new ChunkSplitState(split);
        int count = 0;
        while (true) {
            RecordsWithSplitIds<ChunkRow> records = reader.fetch();
            if (records.nextSplit() != null) {
                for (ChunkRow row = records.nextRecordFromSplit();
                        row != null && count < most;
                        row = records.nextRecordFromSplit()) {
                    rows.add(row.stringAt(0));
                    state.advance(row.chunk(), row.row());
                    count++;
                }
            }
            if (count == most || !records.finishedSplits().isEmpty()) {
                reader.close();
                return state.toSplit();
            }
        }
    }

    @Test
    void continuesAfterTheLastEmittedRow() throws IOException {
        List<String> complete = new ArrayList<>();
        read(all, Integer.MAX_VALUE, complete);
        assertThat(complete).hasSize(10).doesNotContain("key-4", "key-6");
        for (int stop = 1; stop < 10; stop++) {
            List<String> rows = new ArrayList<>();
            ChunkSplit rest = read(all, stop, rows);
            assertThat(rest.splitId()).isEqualTo(all.splitId());
            byte[] stored = ChunkSplitSerializer.INSTANCE.serialize(rest);
            read(ChunkSplitSerializer.INSTANCE.deserialize(1, stored), Integer.MAX_VALUE, rows);
            assertThat(rows).isEqualTo(complete);
        }
    }

    @Test
    void splitsSurviveTheStateOfTheEnumerator() throws IOException {
        EnumeratorStateSerializer serializer = EnumeratorStateSerializer.INSTANCE;
        EnumeratorState state = new EnumeratorState("id", 2, 7, List.of(all));
        EnumeratorState read = serializer.deserialize(serializer.getVersion(), serializer.serialize(state));
        assertThat(read.dataset()).isEqualTo("id");
        assertThat(read.version()).isEqualTo(2);
        assertThat(read.assigned()).isEqualTo(7);
        assertThat(read.returned()).hasSize(1);
        assertThat(read.returned().get(0).chunks().get(1).removedRows()).containsExactly(0, 2);
        assertThat(read.returned().get(0).chunks().get(2).summary())
                .isEqualTo(all.chunks().get(2).summary());
    }
}
