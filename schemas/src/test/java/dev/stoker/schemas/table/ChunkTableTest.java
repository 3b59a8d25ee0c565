package dev.stoker.schemas.table;

import static dev.stoker.schemas.log.LogEntries.DATASET;
import static dev.stoker.schemas.log.LogEntries.adding;
import static dev.stoker.schemas.log.LogEntries.chunk;
import static dev.stoker.schemas.log.LogEntries.from;
import static dev.stoker.schemas.log.LogEntries.recovered;
import static dev.stoker.schemas.log.LogEntries.removing;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.arrow.ArrowFile;
import dev.stoker.schemas.arrow.types.ArrowSchema;
import dev.stoker.schemas.attack.ByteAttacks;
import dev.stoker.schemas.attack.Features;
import dev.stoker.schemas.attack.Golden;
import dev.stoker.schemas.crc.SelfChecksum;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.log.AddedChunk;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.schemas.order.StreamChunks;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.UInt4Vector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.ipc.ArrowFileReader;
import org.apache.arrow.vector.util.ByteArrayReadableSeekableByteChannel;
import org.junit.jupiter.api.Test;

@SuppressWarnings("BadImport") // "from" is short for a table from entries.
class ChunkTableTest {

    private static LogEntry replacing(long version, List<AddedChunk> added, List<RemovedRows> removed) {
        return new LogEntry(
                DATASET,
                version,
                "ingest-" + version,
                Operation.REPLACE,
                0,
                "me",
                added,
                removed,
                Map.of("label", List.of("cat", "dog")),
                Map.of());
    }

    /** Four versions: three chunks, two more, some rows removed, two replaced by one. */
    private static ChunkTable table() throws IOException {
        return ChunkTable.empty(DATASET)
                .with(List.of(
                        adding(1, chunk(0, "train", 10), chunk(1, "val", 3), chunk(2, "train", 5)),
                        from("orders", 2, chunk(3, "train", 7), chunk(4, "val", 2)),
                        removing(3, RemovedRows.of(0, 2, 9), RemovedRows.of(2, 0, 1, 2, 3, 4), RemovedRows.of(3, 6)),
                        replacing(
                                4,
                                List.of(chunk(5, "test", 4)),
                                List.of(RemovedRows.wholeChunk(1), RemovedRows.of(3, 0, 6)))));
    }

    @Test
    void knowsTheNewestVersionOfEachTopicAndTheNewestRecoveredOne() throws IOException {
        ChunkTable table = ChunkTable.empty(DATASET)
                .with(List.of(
                        from("orders", 1, chunk(0, "train", 1)),
                        from("clicks é", 2),
                        adding(3),
                        from("orders", 4, chunk(1, "train", 1)),
                        recovered(5),
                        adding(6)));
        for (ChunkTable same : List.of(table, ChunkTable.decode(table.encode(), "file"))) {
            assertThat(same.topicVersion("orders")).hasValue(4);
            assertThat(same.topicVersion("clicks é")).hasValue(2);
            assertThat(same.topicVersion("none")).isEmpty();
            assertThat(same.recoveredVersion()).isEqualTo(5);
        }
        assertThat(table.with(from("clicks é", 7)).topicVersion("clicks é")).hasValue(7);
        assertThat(table.topicVersion("clicks é")).hasValue(2);
    }

    private static void read(byte[] file) throws IOException {
        ChunkTable.decode(file, "/d/7.arrow");
    }

    @Test
    void keepsAllOrdinalsEver() throws IOException {
        ChunkTable table = table();

        assertThat(table.version()).isEqualTo(4);
        assertThat(table.size()).isEqualTo(6);
        assertThat(table.lastOrdinal()).isEqualTo(5);
        assertThat(table.splits()).containsExactly("train", "val", "test");
        assertThat(table.classes().names("label")).containsExactly("cat", "dog");
        assertThat(table.liveChunks()).isEqualTo(4);
        assertThat(table.liveRows()).isEqualTo(8 + 5 + 2 + 4);
        assertThat(table.liveBytes()).isEqualTo(4 * 100_000 + 0 + 3 + 4 + 5);
        assertThat(table.isLive(0)).isTrue();
        assertThat(table.removedRows(0)).containsExactly(2, 9);
        assertThat(table.liveRows(0)).isEqualTo(8);
        assertThat(table.isLive(1)).isFalse();
        assertThat(table.removedRows(3)).containsExactly(0, 6);
        assertThat(table.addedIn(3)).isEqualTo(2);
        assertThat(table.indexOf(4)).isEqualTo(4);
        assertThat(table.indexOf(6)).isNegative();
        assertThat(table.split(5)).isEqualTo("test");
    }

    @Test
    void aChunkThatLostItsLastRowIsLikeARemovedOne() throws IOException {
        ChunkTable table = table();

        assertThat(table.isLive(2)).isFalse();
        assertThat(table.liveRows(2)).isZero();
        assertThat(table.removedRows(2)).isEmpty();
        assertThat(table.rows(2)).isEqualTo(5);
    }

    @Test
    void aStreamHasTheChunksOfItsSplitAndGhosts() throws IOException {
        StreamChunks train = table().stream("train");

        assertThat(train.size()).isEqualTo(3);
        assertThat(train.liveChunks()).isEqualTo(2);
        assertThat(train.liveRows()).isEqualTo(13);
        assertThat(train.ordinal(1)).isEqualTo(2);
        assertThat(train.isLive(1)).isFalse();
        assertThat(train.rows(1)).isEqualTo(5);
        assertThat(train.id(0)).isEqualTo(chunk(0, "train", 10).id());
        assertThat(train.crc32c(0)).isEqualTo(chunk(0, "train", 10).crc32c());
        assertThat(train.length(2)).isEqualTo(100_003);
        assertThat(train.removedRows(2)).containsExactly(0, 6);
        assertThat(table().stream("no such split").size()).isZero();
    }

    @Test
    void applyingEntriesOneByOneIsTheSame() throws IOException {
        ChunkTable table = ChunkTable.empty(DATASET)
                .with(adding(1, chunk(0, "train", 10), chunk(1, "val", 3), chunk(2, "train", 5)));
        ChunkTable before = table;
        table = table.with(from("orders", 2, chunk(3, "train", 7), chunk(4, "val", 2)));
        table = ChunkTable.decode(table.encode(), "file");
        table = table.with(
                removing(3, RemovedRows.of(0, 2, 9), RemovedRows.of(2, 0, 1, 2, 3, 4), RemovedRows.of(3, 6)));
        table = table.with(replacing(
                4, List.of(chunk(5, "test", 4)), List.of(RemovedRows.wholeChunk(1), RemovedRows.of(3, 0, 6))));

        assertThat(table.encode()).isEqualTo(table().encode());
        assertThat(before.size()).isEqualTo(3);
        assertThat(before.liveRows()).isEqualTo(18);
    }

    @Test
    void classesAndSplitsMayHoldTheMarkOfTheChecksum() throws IOException {
        LogEntry entry = adding(1, chunk(0, "stoker.crc32c=00000000", 10));
        LogEntry marked = new LogEntry(
                entry.dataset(),
                1,
                entry.ingest(),
                entry.operation(),
                entry.committedMs(),
                entry.committedBy(),
                entry.added(),
                entry.removed(),
                Map.of("label", List.of("stoker.crc32c=00000000")),
                entry.properties());
        ChunkTable table = ChunkTable.empty(DATASET).with(marked);

        assertThat(ChunkTable.decode(table.encode(), "file").encode()).isEqualTo(table.encode());
    }

    @Test
    void readsBackWhatWasWritten() throws IOException {
        ChunkTable read = ChunkTable.decode(table().encode(), "file");

        assertThat(read.encode()).isEqualTo(table().encode());
        assertThat(read.removedRows(3)).containsExactly(0, 6);
        assertThat(read.id(5)).isEqualTo(table().id(5));
        assertThat(read.summary(3)).isEqualTo(table().summary(3));
        assertThat(read.dataset()).isEqualTo(DATASET);
        assertThat(ChunkTable.decode(ChunkTable.empty(DATASET).encode(), "file").size())
                .isZero();
    }

    @Test
    void writesTheGoldenFile() throws IOException {
        Golden.check("chunk-table-1.arrow", table().encode());
        assertThat(ChunkTable.decode(Golden.read("chunk-table-1.arrow"), "file").liveRows())
                .isEqualTo(19);
    }

    @Test
    void everyDamageIsNoticed() throws IOException {
        ByteAttacks.all(table().encode(), ChunkTableTest::read);
    }

    @Test
    void aDamageThatKeepsTheChecksumRightDoesNoHarm() throws IOException {
        byte[] file = table().encode();
        int mark = ByteAttacks.indexOf(file, "stoker.crc32c=".getBytes(StandardCharsets.US_ASCII));
        for (int bit = 0; bit < 8 * file.length; bit++) {
            if (bit / 8 >= mark && bit / 8 < mark + 22) {
                continue;
            }
            byte[] forged = file.clone();
            forged[bit / 8] ^= (byte) (1 << (bit % 8));
            try {
                ChunkTable table = ChunkTable.decode(ByteAttacks.reseal(forged), "file");
                for (String split : table.splits()) {
                    table.stream(split);
                }
            } catch (StokerException e) {
                assertThat(e).hasMessageContaining("file");
            }
        }
    }

    @Test
    void aNewerFormatIsTooNew() {
        Map<String, String> metadata = new LinkedHashMap<>();
        metadata.put("stoker.self", SelfChecksum.PLACEHOLDER);
        metadata.put("stoker.format", "2");
        byte[] file = ArrowFile.write(new ArrowSchema(List.of(), metadata), List.of(), Map.of());

        assertThatThrownBy(() -> read(SelfChecksum.seal(file)))
                .isInstanceOf(FormatTooNewException.class)
                .hasMessageContaining("/d/7.arrow has format version 2");
    }

    @Test
    void arrowReadsIt() throws IOException {
        byte[] file = table().encode();
        try (RootAllocator allocator = new RootAllocator();
                ArrowFileReader reader =
                        new ArrowFileReader(new ByteArrayReadableSeekableByteChannel(file), allocator)) {
            assertThat(reader.loadNextBatch()).isTrue();
            VectorSchemaRoot root = reader.getVectorSchemaRoot();
            assertThat(root.getRowCount()).isEqualTo(6);
            assertThat(reader.getRecordBlocks()).hasSize(1);
            assertThat(root.getSchema().getCustomMetadata())
                    .containsEntry("stoker.version", "4")
                    .containsEntry("stoker.splits", "[\"train\",\"val\",\"test\"]")
                    .containsEntry("stoker.classes", "{\"label\":[\"cat\",\"dog\"]}");
            assertThat(((BitVector) root.getVector("live")).getObject(1)).isFalse();
            assertThat(((UInt4Vector) root.getVector("crc32c")).getObjectNoOverflow(3))
                    .isEqualTo(0xF000_0003L);
            assertThat(((FixedSizeBinaryVector) root.getVector("id")).get(0)).startsWith(1, 0x97);
            assertThat(((ListVector) root.getVector("removed_rows")).getObject(3))
                    .isEqualTo(List.of(0, 6));
            assertThat(((ListVector) root.getVector("removed_rows")).isNull(1)).isTrue();
        }
    }

    @Test
    void refusesEntriesThatDoNotFollow() throws IOException {
        ChunkTable table = table();

        assertThatThrownBy(() -> table.with(adding(6)))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("expected entry 5");
        assertThatThrownBy(() -> table.with(adding(5, chunk(5, "train", 1))))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("ordinal 5");
        assertThatThrownBy(() -> table.with(removing(5, RemovedRows.of(77, 1))))
                .hasMessageContaining("chunk 77, which no version has");
        assertThatThrownBy(() -> table.with(removing(5, RemovedRows.of(5, 4))))
                .hasMessageContaining("row 4 of chunk 5, which has 4 rows");
        assertThatThrownBy(() -> ChunkTable.empty(UUID.randomUUID()).with(adding(1)))
                .isInstanceOf(CorruptDataException.class);
    }

    @Test
    void namesAFeatureThatItDoesNotKnow() {
        Map<String, String> metadata = new LinkedHashMap<>();
        metadata.put("stoker.self", SelfChecksum.PLACEHOLDER);
        metadata.put("stoker.format", "1");
        metadata.put("stoker.requires", Features.LIST);
        byte[] newer = ArrowFile.write(new ArrowSchema(List.of(), metadata), List.of(), Map.of());
        Features.assertNamed("/d/7.arrow", () -> read(SelfChecksum.seal(newer)));
        metadata.put("stoker.requires", Features.MALFORMED);
        byte[] malformed = ArrowFile.write(new ArrowSchema(List.of(), metadata), List.of(), Map.of());
        Features.assertMalformed("/d/7.arrow", () -> read(SelfChecksum.seal(malformed)));
    }
}
