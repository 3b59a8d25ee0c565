package dev.stoker.schemas.table;

import static dev.stoker.schemas.log.LogEntries.DATASET;
import static dev.stoker.schemas.log.LogEntries.adding;
import static dev.stoker.schemas.log.LogEntries.chunk;
import static dev.stoker.schemas.log.LogEntries.overlay;
import static dev.stoker.schemas.log.LogEntries.removing;
import static dev.stoker.schemas.log.LogEntries.updating;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.schemas.attack.Golden;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.schemas.order.Fingerprint;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.StreamChunks;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Removals of single rows, and overlays: log entries, and the chunk tables that follow in Java and Python. */
class RowRemovalTest {

    private static List<LogEntry> entries() {
        return List.of(
                adding(1, chunk(0, "train", 3), chunk(1, "train", 4), chunk(2, "val", 2)),
                removing(2, RemovedRows.of(0, 0, 2), RemovedRows.of(1, 1)),
                // The last row of one chunk, and from the other chunk also a row that was removed before.
                removing(3, RemovedRows.of(0, 1), RemovedRows.of(1, 1, 3)),
                adding(4, chunk(3, "train", 5)),
                removing(5, RemovedRows.of(0, 1), RemovedRows.of(2, 0, 1)),
                updating(6, overlay(1, 61), overlay(3, 63)),
                // A second overlay replaces the first one; a chunk without rows has none.
                updating(7, overlay(1, 71)),
                removing(8, RemovedRows.wholeChunk(3)));
    }

    private static byte[] vectors() throws IOException {
        JsonMapper json = new JsonMapper();
        ObjectNode root = json.createObjectNode();
        ArrayNode versions = root.putArray("versions");
        ChunkTable table = ChunkTable.empty(DATASET);
        for (LogEntry entry : entries()) {
            table = table.with(entry);
            ObjectNode version = versions.addObject();
            version.put("entry", HexFormat.of().formatHex(entry.encode()));
            version.put("table", HexFormat.of().formatHex(table.encode()));
            ArrayNode live = version.putArray("live_rows");
            for (int i = 0; i < table.size(); i++) {
                live.add(table.liveRows(i));
            }
            version.put(
                    "fingerprint",
                    Fingerprint.of(DATASET, entry.version(), "train", table.stream("train"), OrderSpec.defaults())
                            .toString());
        }
        return json.writerWithDefaultPrettyPrinter().writeValueAsString(root).getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void makesOfTheEntriesWhatTheVectorsSay() throws IOException {
        Golden.check("row-removal-1.json", vectors());
    }

    @Test
    void aChunkHasItsNewestOverlayUntilItIsRemoved() throws IOException {
        ChunkTable before = ChunkTable.empty(DATASET).with(entries().subList(0, 6));
        ChunkTable table = ChunkTable.empty(DATASET).with(entries());

        assertThat(before.overlay(1)).isEqualTo(overlay(1, 61).overlay());
        assertThat(before.overlay(3)).isEqualTo(overlay(3, 63).overlay());
        assertThat(before.overlay(0)).isNull();
        for (ChunkTable same : List.of(table, ChunkTable.decode(table.encode(), "table"))) {
            assertThat(same.overlay(1)).isEqualTo(overlay(1, 71).overlay());
            assertThat(same.largestRow(1)).isEqualTo(2071);
            assertThat(same.overlay(3)).isNull();
            assertThat(same.overlays()).containsExactly(overlay(1, 71).overlay().id());
            assertThat(same.summary(1).overlay()).isEqualTo(overlay(1, 71).overlay());
            StreamChunks stream = same.stream("train");
            assertThat(stream.overlay(stream.indexOf(1)))
                    .isEqualTo(overlay(1, 71).overlay());
        }
    }

    @Test
    void anUpdateOfAChunkWithoutRowsIsCorrupt() throws IOException {
        ChunkTable table = ChunkTable.empty(DATASET).with(entries());

        assertThatThrownBy(() -> table.with(updating(9, overlay(3, 90))))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("updates chunk 3, which is not part of the version");
        assertThatThrownBy(() -> table.with(updating(9, overlay(8, 90))))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("updates chunk 8");
    }

    @Test
    void aChunkThatLostAllRowsOneByOneIsAGhostAndStaysOne() throws IOException {
        ChunkTable table = ChunkTable.empty(DATASET).with(entries());

        assertThat(table.isLive(0)).isFalse();
        assertThat(table.removedRows(0)).isEmpty();
        assertThat(table.isLive(1)).isTrue();
        assertThat(table.removedRows(1)).containsExactly(1, 3);
        assertThat(table.stream("val").liveRows()).isZero();
        assertThat(ChunkTable.decode(table.encode(), "table").encode()).isEqualTo(table.encode());
    }
}
