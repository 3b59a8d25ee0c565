package dev.stoker.schemas.chunk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.ArrowFooter;
import dev.stoker.schemas.arrow.HeadPart;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.io.BufferRangeReader;
import dev.stoker.schemas.io.RangeReader;
import dev.stoker.schemas.testing.Cells;
import dev.stoker.schemas.testing.Rounds;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

class ColumnReaderTest {
    private PackedChunk packed;
    private byte[] good;
    private ChunkHead head;

    private void draw(Random random) throws IOException {
        packed = ChunkFixtures.random(ChunkFixtures.ALL_TYPES, 9, 1, random).finish(ChunkFixtures.identity(1));
        good = ChunkFixtures.bytes(packed).array();
        head = ChunkReader.open(reader(good));
    }

    private static RangeReader reader(byte[] file) {
        return new BufferRangeReader("file c", ByteBuffer.wrap(file));
    }

    private ColumnReader columns(byte[] file) throws IOException {
        return ColumnReader.open(reader(file), packed.summary());
    }

    @Test
    void readsEachColumnAsTheWholeHeadHasIt(TestInfo test) {
        Rounds.of(test).seconds(0.2).run((random, round) -> {
            draw(random);
            readsEachColumnAsTheWholeHeadHasIt();
        });
    }

    private void readsEachColumnAsTheWholeHeadHasIt() throws IOException {
        ColumnReader columns = columns(good);
        assertThat(columns.rows()).isEqualTo(head.rows());
        assertThat(columns.fields()).isEqualTo(head.fields());
        assertSame(columns.keys(), head.keys());
        for (int f = 0; f < head.layout().smallFields(); f++) {
            assertSame(columns.column(f), head.column(f));
            if (head.fields().get(f).type() == ScalarType.CATEGORICAL) {
                assertThat(columns.classes(f)).isEqualTo(head.classes(f));
            }
        }
        assertThatThrownBy(() -> columns.column(head.layout().smallFields()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is payload");
    }

    private static void assertSame(ArrowColumn found, ArrowColumn expected) {
        assertThat(found.rows()).isEqualTo(expected.rows());
        for (int row = 0; row < expected.rows(); row++) {
            assertThat(found.isNull(row)).isEqualTo(expected.isNull(row));
            if (expected.field().type() == ScalarType.BOOL) {
                assertThat(found.booleanAt(row)).isEqualTo(expected.booleanAt(row));
            } else {
                assertThat(found.bytesAt(row)).isEqualTo(expected.bytesAt(row));
            }
        }
    }

    /** The property that the checksums exist for. */
    @Test
    void noticesAFlippedBitOfTheOneColumnThatItReadsAndOfNoOther(TestInfo test) {
        Rounds.of(test).run((random, round) -> {
            draw(random);
            noticesAFlippedBitOfTheOneColumnThatItReadsAndOfNoOther();
        });
    }

    private void noticesAFlippedBitOfTheOneColumnThatItReadsAndOfNoOther() throws IOException {
        List<HeadPart> parts = head.arrow().parts();
        int dictionaries = (int) head.fields().stream()
                .filter(field -> field.type() == ScalarType.CATEGORICAL)
                .count();
        for (int p = dictionaries + 1; p < parts.size(); p++) {
            for (int at = 0; at < parts.get(p).length(); at += 5) {
                byte[] bad = good.clone();
                bad[(int) parts.get(p).position() + at] ^= (byte) (1 << (at % 8));
                assertThat(damagedColumns(bad))
                        .as("byte " + at + " of part " + p)
                        .hasSizeLessThan(2);
                assertThatThrownBy(() -> ChunkReader.readHead(reader(bad), packed.summary()))
                        .isInstanceOf(CorruptDataException.class);
            }
        }
        for (int f = 0; f < head.layout().smallFields(); f++) {
            byte[] bad = good.clone();
            ArrowColumn column = head.column(f);
            if (column.valuesLength() == 0) {
                // All values are empty.
                continue;
            }
            bad[column.valuesPosition()] ^= 1;
            assertThat(damagedColumns(bad)).as("field " + f).containsExactly(f);
        }
    }

    /** The small fields that cannot be read; -1 for the keys. */
    private List<Integer> damagedColumns(byte[] file) throws IOException {
        ColumnReader columns = columns(file);
        List<Integer> damaged = new ArrayList<>();
        for (int f = -1; f < head.layout().smallFields(); f++) {
            try {
                ArrowColumn column = f < 0 ? columns.keys() : columns.column(f);
                assertThat(column.rows()).isEqualTo(head.rows());
            } catch (CorruptDataException e) {
                assertThat(e).hasMessageContaining("file c is corrupt: CRC32C of bytes ");
                damaged.add(f);
            }
        }
        return damaged;
    }

    @Test
    void noticesAFlippedBitOfADictionary(TestInfo test) {
        Rounds.of(test).run((random, round) -> {
            draw(random);
            noticesAFlippedBitOfADictionary();
        });
    }

    private void noticesAFlippedBitOfADictionary() throws IOException {
        HeadPart dictionary = head.arrow().parts().get(0);
        int field = head.fields()
                .indexOf(head.fields().stream()
                        .filter(f -> f.type() == ScalarType.CATEGORICAL)
                        .findFirst()
                        .orElseThrow());
        for (long at = dictionary.position(); at < dictionary.end(); at++) {
            byte[] bad = good.clone();
            bad[(int) at] ^= 4;
            ColumnReader columns = columns(bad);
            assertThatThrownBy(() -> columns.column(field)).isInstanceOf(CorruptDataException.class);
            assertThatCode(columns::keys).doesNotThrowAnyException();
        }
    }

    @Test
    void noticesEveryChangedByteOfFooterAndMetadata(TestInfo test) {
        Rounds.of(test).run((random, round) -> {
            draw(random);
            noticesEveryChangedByteOfFooterAndMetadata(random);
        });
    }

    /** Of every byte in the full tier, of a quarter of them otherwise. */
    private void noticesEveryChangedByteOfFooterAndMetadata(Random random) {
        HeadPart message = head.arrow().parts().get((int) head.fields().stream()
                .filter(f -> f.type() == ScalarType.CATEGORICAL)
                .count());
        int body = head.arrow().bodyPosition() + (int) head.arrow().bodyLength();
        for (int at = 0; at < good.length; at++) {
            boolean isFooter = at >= body;
            if (!isFooter && (at < message.position() || at >= message.end())) {
                continue;
            }
            if (!Cells.areAll() && random.nextInt(4) > 0) {
                continue;
            }
            byte[] bad = good.clone();
            bad[at] ^= (byte) (1 << at % 8);
            if (!isFooter || !isUnused(bad)) {
                assertThat(catchThrowable(() -> columns(bad).keys()))
                        .as("byte " + at + " of " + good.length + ", body ends at " + body)
                        .isInstanceOf(StokerException.class);
            }
        }
    }

    /** Whether the footer still says the same: padding, the head's checksum, or the length of the body. */
    private boolean isUnused(byte[] file) {
        try {
            ArrowFooter before = footer(good);
            ArrowFooter after = footer(file);
            return before.schema().equals(after.schema())
                    && before.dictionaries().equals(after.dictionaries())
                    && before.recordBatch().position() == after.recordBatch().position()
                    && before.recordBatch().headLength() == after.recordBatch().headLength()
                    && before.metadata()
                            .get("stoker.head_length")
                            .equals(after.metadata().get("stoker.head_length"))
                    && before.metadata()
                            .get(HeadChecksums.KEY)
                            .equals(after.metadata().get(HeadChecksums.KEY));
        } catch (IOException e) {
            return false;
        }
    }

    private static ArrowFooter footer(byte[] file) throws StokerException {
        ByteBuffer bytes = ByteBuffer.wrap(file);
        int length = ArrowFooter.tailLength(bytes, file.length, "file c");
        return ArrowFooter.read(bytes.slice(file.length - length, length), "file c");
    }

    @Test
    void readsOnlyTheChunkThatTheLogKnows(TestInfo test) {
        Rounds.of(test).run((random, round) -> {
            draw(random);
            readsOnlyTheChunkThatTheLogKnows();
        });
    }

    private void readsOnlyTheChunkThatTheLogKnows() throws IOException {
        ChunkSummary good = packed.summary();
        assertThatThrownBy(() -> ColumnReader.open(reader(this.good), with(good, good.headCrc32c() ^ 1, good.id())))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining(
                        "CRC32C of the head, combined from the footer: expected " + Crc32cs.hex(good.headCrc32c() ^ 1));
        assertThatThrownBy(() -> ColumnReader.open(reader(this.good), with(good, good.headCrc32c(), new UUID(1, 2))))
                .isInstanceOf(ForeignFileException.class);
        byte[] longer = new byte[this.good.length + 1];
        System.arraycopy(this.good, 0, longer, 0, this.good.length);
        assertThatThrownBy(() -> columns(longer))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("file length");
    }

    private static ChunkSummary with(ChunkSummary s, int headCrc32c, UUID id) {
        return new ChunkSummary(
                id, s.split(), s.rows(), s.length(), s.crc32c(), s.headLength(), headCrc32c, s.largestRow());
    }

    @Test
    void readsTheKeysOfALongHeadWithoutTheRest(TestInfo test) {
        Rounds.of(test).run((random, round) -> {
            draw(random);
            readsTheKeysOfALongHeadWithoutTheRest();
        });
    }

    private void readsTheKeysOfALongHeadWithoutTheRest() throws IOException {
        List<Field> fields = List.of(Field.small("wide", ScalarType.UTF8));
        ChunkBuilder builder = new ChunkBuilder(fields, 1 << 16);
        for (int row = 0; row < 5; row++) {
            builder.beginRow("k" + row);
            builder.setString(0, "w".repeat(1 << 20));
            builder.endRow();
        }
        PackedChunk wide = builder.finish(ChunkFixtures.identity(2));
        byte[] file = ChunkFixtures.bytes(wide).array();
        file[file.length / 2] ^= 1;
        assertThat(ChunkReader.readKeys(reader(file), wide.summary()).stringAt(4))
                .isEqualTo("k4");
        assertThat(ChunkReader.readKeys(reader(good), packed.summary()).stringAt(0))
                .isEqualTo(head.key(0));
        byte[] bad = good.clone();
        bad[head.column(0).valuesPosition()] ^= 1;
        assertThatThrownBy(() -> ChunkReader.readKeys(reader(bad), packed.summary()))
                .isInstanceOf(CorruptDataException.class);
    }
}
