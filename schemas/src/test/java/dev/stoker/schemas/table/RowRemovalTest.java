package dev.stoker.schemas.table;

import static dev.stoker.schemas.log.LogEntries.DATASET;
import static dev.stoker.schemas.log.LogEntries.adding;
import static dev.stoker.schemas.log.LogEntries.chunk;
import static dev.stoker.schemas.log.LogEntries.removing;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.schemas.attack.Golden;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.schemas.order.Fingerprint;
import dev.stoker.schemas.order.OrderSpec;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Removals of single rows: log entries, and the chunk tables that Java and Python must compute from them. */
class RowRemovalTest {

    private static List<LogEntry> entries() {
        return List.of(
                adding(1, chunk(0, "train", 3), chunk(1, "train", 4), chunk(2, "val", 2)),
                removing(2, RemovedRows.of(0, 0, 2), RemovedRows.of(1, 1)),
                // The last row of one chunk, and from the other chunk also a row that was removed before.
                removing(3, RemovedRows.of(0, 1), RemovedRows.of(1, 1, 3)),
                adding(4, chunk(3, "train", 5)),
                removing(5, RemovedRows.of(0, 1), RemovedRows.of(2, 0, 1)));
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
