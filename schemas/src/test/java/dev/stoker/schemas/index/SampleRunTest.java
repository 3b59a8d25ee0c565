package dev.stoker.schemas.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.attack.ByteAttacks;
import dev.stoker.schemas.attack.Golden;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.index.RunFixtures.Row;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.UInt4Vector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowFileReader;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.util.ByteArrayReadableSeekableByteChannel;
import org.junit.jupiter.api.Test;

class SampleRunTest {

    private static final List<Row> SMALL = List.of(
            Row.of("cats/1.jpg", 0, 0, 1000, 0x11111111),
            Row.of("cats/2.jpg", 0, 1, 2000, 0xFFFFFFFF),
            Row.of("cats/1.jpg", 7, 3, 1001, 5),
            Row.of("dogs/ü.jpg", 1, 0, 0, 0),
            Row.of("a\nb\0c", 2, 4, 17, 9));

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Sorted. */
    private static List<Row> many(int count, long seed) {
        Random random = new Random(seed);
        Set<String> keys = new TreeSet<>();
        while (keys.size() < count) {
            keys.add(random.nextInt(4) + "/" + random.nextInt(10 * count) + "x".repeat(random.nextInt(20)));
        }
        List<Row> rows = new ArrayList<>();
        for (String key : keys) {
            rows.add(Row.of(key, random.nextInt(100), rows.size(), random.nextInt(1 << 20), random.nextInt()));
        }
        return rows;
    }

    private static void readAll(byte[] file) throws IOException {
        SampleRun run = RunFixtures.open(file);
        run.require(RunFixtures.IDENTITY);
        run.verifyAll();
    }

    @Test
    void findsEveryKeyWithAllItsRowsNewestChunkFirst() throws IOException {
        SampleRun run = RunFixtures.open(RunFixtures.run(SMALL));

        assertThat(run.rows()).isEqualTo(5);
        long row = run.find(utf8("cats/1.jpg"));
        assertThat(row).isEqualTo(1);
        assertThat(run.row(row)).isEqualTo(new IndexedRow(7, 3, 1001, 5));
        assertThat(run.row(row + 1)).isEqualTo(new IndexedRow(0, 0, 1000, 0x11111111));
        assertThat(run.hasKey(row + 1, utf8("cats/1.jpg"))).isTrue();
        assertThat(run.hasKey(row + 2, utf8("cats/1.jpg"))).isFalse();
        assertThat(run.row(run.find(utf8("a\nb\0c")))).isEqualTo(new IndexedRow(2, 4, 17, 9));
        assertThat(run.find(utf8("cats/1.jp"))).isNegative();
        assertThat(run.find(utf8("cats/1.jpgg"))).isNegative();
        assertThat(run.find(utf8(""))).isNegative();
    }

    @Test
    void findsEveryKeyOfManyBatches() throws IOException {
        for (int count : new int[] {1, 8191, 8192, 8193, 30_000}) {
            List<Row> rows = many(count, count);
            SampleRun run = RunFixtures.open(RunFixtures.run(rows));
            run.verifyAll();
            assertThat(run.rows()).isEqualTo(count);
            for (Row row : rows) {
                long found = run.find(row.key());
                assertThat(run.key(found)).isEqualTo(row.key());
                assertThat(run.row(found)).isEqualTo(row.place());
                byte[] absent = Arrays.copyOf(row.key(), row.key().length + 1);
                assertThat(run.find(absent)).isNegative();
            }
        }
    }

    @Test
    void findsTheFirstRowFromAKeyOn() throws IOException {
        List<Row> rows = many(9000, 4);
        SampleRun run = RunFixtures.open(RunFixtures.run(rows));
        for (int i = 0; i < rows.size(); i += 7) {
            byte[] key = run.key(i);
            assertThat(run.ceiling(key)).isEqualTo(i);
            assertThat(run.ceiling(key, Math.max(0, i - 100))).isEqualTo(i);
            assertThat(run.ceiling(Arrays.copyOf(key, key.length + 1))).isEqualTo(i + 1);
        }
        assertThat(run.ceiling(utf8("9"))).isEqualTo(9000);
        assertThat(run.ceiling(utf8(""))).isZero();
        assertThat(run.ceiling(utf8(""), 9000)).isEqualTo(9000);
    }

    @Test
    void keysOfFullLinesAreFoundInLaterLines() throws IOException {
        // Keys of one home: their hashes have equal high bits.
        List<Row> rows = new ArrayList<>();
        for (int i = 0; rows.size() < 40; i++) {
            byte[] key = utf8("key " + i);
            if (RunFormat.hash(key, 0, key.length) >>> 24 == 0xFF) {
                rows.add(Row.of("key " + i, 0, rows.size(), i, i));
            }
        }
        SampleRun run = RunFixtures.open(RunFixtures.run(rows));
        run.verifyAll();
        for (Row row : rows) {
            assertThat(run.row(run.find(row.key()))).isEqualTo(row.place());
        }
        assertThat(run.find(utf8("key x"))).isNegative();
    }

    @Test
    void aFullLineThatIsNotContinuedEndsASearch() throws IOException {
        for (int count = 1; count < 60; count++) {
            List<Row> rows = many(count, 77L * count);
            SampleRun run = RunFixtures.open(RunFixtures.run(rows));
            for (Row row : rows) {
                assertThat(run.find(row.key())).isNotNegative();
            }
            for (int i = 0; i < 200; i++) {
                assertThat(run.find(utf8("absent " + i))).isNegative();
            }
        }
    }

    @Test
    void refusesRowsThatAreOutOfOrder() throws IOException {
        RunWriter writer = new RunWriter(RunFixtures.IDENTITY, part -> {}, new HashesInMemory());
        byte[] key = utf8("b");
        writer.add(key, 0, 1, new IndexedRow(3, 0, 0, 0));

        assertThatThrownBy(() -> writer.add(utf8("a"), 0, 1, new IndexedRow(4, 0, 0, 0)))
                .hasMessage("row 1 of the index is out of order");
        assertThatThrownBy(() -> writer.add(key, 0, 1, new IndexedRow(3, 1, 0, 0)))
                .hasMessage("row 1 of the index is out of order");
        writer.add(key, 0, 1, new IndexedRow(2, 0, 0, 0));
    }

    @Test
    void takesNoMoreThan28BytesASampleBesidesTheKey() throws IOException {
        List<Row> rows = many(100_000, 5);
        long keyBytes = rows.stream().mapToLong(row -> row.key().length).sum();

        assertThat((RunFixtures.run(rows).length - keyBytes) / 100_000.0).isLessThan(28);
    }

    @Test
    void writesTheGoldenFile() throws IOException {
        Golden.check("index-run-1.arrow", RunFixtures.run(SMALL));
    }

    @Test
    void everyDamageIsNoticed() throws IOException {
        ByteAttacks.all(RunFixtures.run(SMALL), SampleRunTest::readAll);
    }

    @Test
    void everyTruncationOfALargerRunIsNoticedOnOpening() throws IOException {
        byte[] file = RunFixtures.run(many(9000, 6));
        for (int length = 0; length < file.length; length += 1 + length % 97) {
            byte[] cut = Arrays.copyOf(file, length);
            assertThatThrownBy(() -> RunFixtures.open(cut)).isInstanceOf(CorruptDataException.class);
        }
    }

    @Test
    void damageOfABatchIsNoticedWhenTheBatchIsUsed() throws IOException {
        List<Row> rows = many(9000, 6);
        byte[] file = RunFixtures.run(rows);
        byte[] second = rows.get(8500).key();
        int at = ByteAttacks.indexOf(file, second);
        file[at] ^= 1;
        SampleRun run = RunFixtures.open(file);

        assertThat(run.find(rows.get(5).key())).isEqualTo(5);
        assertThatThrownBy(() -> run.find(second))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageStartingWith("/d/run.arrow is corrupt: CRC32C of its batch 1: expected ")
                .hasMessageEndingWith("; build the index again with: stoker index DATASET --rebuild");
    }

    @Test
    void forgedChecksumsDoNoHarm() throws IOException {
        byte[] file = RunFixtures.run(SMALL);
        int footer = ByteAttacks.indexOf(file, utf8("stoker.self"));
        for (int bit = 8 * (footer - 1500); bit < 8 * file.length - 80; bit++) {
            byte[] forged = file.clone();
            forged[bit / 8] ^= (byte) (1 << (bit % 8));
            try {
                readAll(RunFiles.reseal(forged));
            } catch (CorruptDataException | ForeignFileException | FormatTooNewException e) {
                assertThat(e).hasMessageContaining("/d/run.arrow");
            }
        }
    }

    @Test
    void namesOtherFilesForeignAndNewerOnesTooNew() throws IOException {
        byte[] file = RunFixtures.run(SMALL);
        // The value of a pair stands before its key.
        byte[] newer = RunFiles.reseal(
                RunFiles.replaceLast(file, "1\0\0\0\r\0\0\0stoker.format", "2\0\0\0\r\0\0\0stoker.format"));

        assertThatThrownBy(() -> RunFixtures.open(newer))
                .isInstanceOf(FormatTooNewException.class)
                .hasMessageContaining("format version 2");
        assertThatThrownBy(() -> RunFixtures.open(utf8("key,ordinal\nsome other file\n")))
                .isInstanceOf(ForeignFileException.class);
        assertThatThrownBy(() -> RunFixtures.open(file).require(new RunIdentity(RunFixtures.DATASET, 2, 6, 0x1234abcd)))
                .isInstanceOf(ForeignFileException.class)
                .hasMessageContaining("versions 2 to 6 of dataset 5e0c8c1e-6f0d-4b51-9a53-0d6f1a2b3c4d");
    }

    @Test
    void otherArrowReadersReadTheRows() throws IOException {
        List<Row> rows = many(20_000, 8);
        byte[] file = RunFixtures.run(rows);
        int seen = 0;
        try (RootAllocator allocator = new RootAllocator();
                ArrowFileReader reader =
                        new ArrowFileReader(new ByteArrayReadableSeekableByteChannel(file), allocator)) {
            while (reader.loadNextBatch()) {
                VectorSchemaRoot root = reader.getVectorSchemaRoot();
                VarCharVector keys = (VarCharVector) root.getVector("key");
                IntVector ordinals = (IntVector) root.getVector("ordinal");
                UInt4Vector crcs = (UInt4Vector) root.getVector("crc32c");
                for (int i = 0; i < root.getRowCount(); i++, seen++) {
                    Row row = rows.get(seen);
                    assertThat(keys.get(i)).isEqualTo(row.key());
                    assertThat(ordinals.get(i)).isEqualTo(row.place().ordinal());
                    assertThat(crcs.get(i)).isEqualTo(row.place().crc32c());
                }
            }
        }
        assertThat(seen).isEqualTo(20_000);
    }

    @Test
    void readersOfStreamsFindTheEnd() throws IOException {
        byte[] file = RunFixtures.run(many(10_000, 9));
        long seen = 0;
        try (RootAllocator allocator = new RootAllocator();
                ArrowStreamReader reader =
                        new ArrowStreamReader(new ByteArrayInputStream(file, 8, file.length - 8), allocator)) {
            while (reader.loadNextBatch()) {
                seen += reader.getVectorSchemaRoot().getRowCount();
            }
        }
        assertThat(seen).isEqualTo(10_000);
    }
}
