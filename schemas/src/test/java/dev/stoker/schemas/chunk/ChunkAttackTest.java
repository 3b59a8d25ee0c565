package dev.stoker.schemas.chunk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.ArrowFile;
import dev.stoker.schemas.arrow.types.ArrowSchema;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.attack.Features;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.io.BufferRangeReader;
import dev.stoker.schemas.io.RangeReader;
import dev.stoker.schemas.testing.Rounds;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/**
 * No damage to a chunk goes unnoticed: by the chunk itself in {@link ChunkReader#verify}, and by {@link
 * ChunkReader#readHead} with the sums of the log. There is no byte of a chunk that only the file's CRC covers.
 */
class ChunkAttackTest {
    /** Of the chunk that is damaged. */
    private static final long SEED = 11;

    private static final List<Field> FIELDS = List.of(
            Field.small("label", ScalarType.CATEGORICAL),
            Field.nullable("score", ScalarType.FLOAT32),
            Field.small("at", FieldType.parse("timestamp[us,UTC]")),
            Field.nullable("tags", FieldType.parse("utf8[]")),
            Field.small("boxes", FieldType.parse("int16[][]")),
            Field.payload("image", ScalarType.BINARY),
            Field.payload("text", ScalarType.UTF8));

    private final PackedChunk packed =
            ChunkFixtures.random(FIELDS, 3, 0, new Random(SEED)).finish(ChunkFixtures.identity(0));
    private final byte[] good = ChunkFixtures.bytes(packed).array();

    @Test
    void noticesEveryFlippedBit() throws IOException {
        for (int at = 0; at < good.length; at++) {
            for (int bit = 0; bit < 8; bit++) {
                byte[] bad = good.clone();
                bad[at] ^= (byte) (1 << bit);
                assertCorrupt(bad, "bit " + bit + " of byte " + at);
            }
        }
    }

    @Test
    void noticesEveryTruncation() throws IOException {
        for (int length = 0; length < good.length; length++) {
            assertCorrupt(Arrays.copyOf(good, length), "cut to " + length);
        }
    }

    @Test
    void noticesEveryAppendedByteAndHole() throws IOException {
        assertCorrupt(Arrays.copyOf(good, good.length + 1), "one byte more");
        for (int from = 0; from + 512 <= good.length; from += 64) {
            byte[] bad = good.clone();
            Arrays.fill(bad, from, from + 512, (byte) 0);
            assertCorrupt(bad, "zeros from " + from);
        }
    }

    @Test
    void readsAHeadOnlyAsTheLogKnowsIt() throws IOException {
        int head = (int) packed.summary().headLength();
        for (int at = 0; at < head; at++) {
            byte[] bad = good.clone();
            bad[at] ^= 0x10;
            assertThatThrownBy(() -> ChunkReader.readHead(reader(bad), packed.summary()))
                    .isInstanceOf(CorruptDataException.class)
                    .hasMessageContaining("CRC32C of the head");
        }
        byte[] cut = Arrays.copyOf(good, good.length - 1);
        assertThatThrownBy(() -> ChunkReader.readHead(reader(cut), packed.summary()))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("file length")
                .hasMessageContaining(String.valueOf(good.length));
    }

    @Test
    void readsNoOtherChunkInItsPlace() throws IOException {
        PackedChunk other = ChunkFixtures.random(FIELDS, 3, 0, new Random(SEED)).finish(ChunkFixtures.identity(1));
        ChunkSummary swapped = new ChunkSummary(
                packed.summary().id(),
                "train",
                3,
                other.summary().length(),
                other.summary().crc32c(),
                other.summary().headLength(),
                other.summary().headCrc32c(),
                1);
        assertThatThrownBy(() ->
                        ChunkReader.readHead(reader(ChunkFixtures.bytes(other).array()), swapped))
                .isInstanceOf(ForeignFileException.class)
                .hasMessageContaining(other.summary().id().toString())
                .hasMessageContaining(packed.summary().id().toString());
    }

    @Test
    void namesChunkRowAndKeyOfADamagedSample() throws IOException {
        ChunkHead head = ChunkReader.open(reader(good));
        byte[] bad = good.clone();
        bad[head.payloadPosition(6, 1)] ^= 1;
        assertThatThrownBy(() -> ChunkReader.verifySample(head, reader(bad), 1))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("file c ")
                .hasMessageContaining("field text of row 1")
                .hasMessageContaining("'" + head.key(1) + "'")
                .hasMessageContaining(packed.summary().id().toString());
        ChunkReader.verifySample(head, reader(bad), 0);
        ChunkReader.verifySample(head, reader(bad), 2);
    }

    @Test
    void saysThatANewerFormatIsNewer() {
        byte[] newer = replaced("1\0\0\0\r\0\0\0stoker.format", "2\0\0\0\r\0\0\0stoker.format");
        assertThatThrownBy(() -> ChunkHead.parse(head(newer), newer.length, "file c"))
                .isInstanceOf(FormatTooNewException.class)
                .hasMessageContaining("version 2")
                .hasMessageContaining("update Stoker");
    }

    @Test
    void saysThatOtherFilesAreForeign() {
        byte[] noise = new byte[300];
        new Random(SEED).nextBytes(noise);
        assertThatThrownBy(() -> ChunkReader.open(reader(noise))).isInstanceOf(ForeignFileException.class);
        assertThatThrownBy(() -> ChunkHead.parse(ByteBuffer.wrap(noise), 300, "file c"))
                .isInstanceOf(ForeignFileException.class);
        byte[] other = replaced("stoker.format", "strange.forma");
        assertThatThrownBy(() -> ChunkHead.parse(head(other), other.length, "file c"))
                .isInstanceOf(ForeignFileException.class)
                .hasMessageContaining("stoker.format");
    }

    /** Sums of rows would then not cover the whole payload. */
    @Test
    void refusesPayloadWithGapsBetweenItsRows() throws IOException {
        ChunkHead head = ChunkReader.open(reader(good));
        int[] ends = new int[4];
        for (int row = 0; row < 3; row++) {
            ends[row + 1] = ends[row] + head.payloadLength(5, row);
        }
        for (int moved : new int[] {0, 3}) {
            int[] other = ends.clone();
            other[moved] += moved == 0 ? 1 : -1;
            byte[] bad = replaced(offsets(ends), offsets(other));
            assertThatThrownBy(() -> ChunkHead.parse(head(bad), bad.length, "file c"))
                    .isInstanceOf(CorruptDataException.class)
                    .hasMessageContaining("values of image");
        }
    }

    @Test
    void refusesBuffersThatAreTooShort() throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(good).order(ByteOrder.LITTLE_ENDIAN);
        int flatbuffer = ChunkReader.open(reader(good)).arrow().messagePosition() + 8;
        int nodes = bytes.getInt(flatbuffer + 92);
        int buffers = flatbuffer + 100 + 16 * nodes;
        int tried = 0;
        for (int b = 0; b < bytes.getInt(buffers); b++) {
            int at = buffers + 4 + 16 * b + 8;
            if (bytes.getLong(at) > 1) {
                byte[] bad = good.clone();
                bad[at]--;
                assertThatThrownBy(() -> ChunkHead.parse(head(bad), bad.length, "file c"))
                        .as("buffer %s", b)
                        .isInstanceOf(CorruptDataException.class)
                        .hasMessageContaining("file c");
                tried++;
            }
        }
        assertThat(tried).isEqualTo(17);
    }

    @Test
    void refusesClassIdsWithoutAName() throws IOException {
        ChunkHead head = ChunkReader.open(reader(good));
        for (int id : new int[] {-1, head.classes(0).size(), Integer.MIN_VALUE}) {
            byte[] bad = good.clone();
            ByteBuffer.wrap(bad)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putInt(head.column(0).valuesPosition() + 8, id);
            assertThatThrownBy(() -> ChunkHead.parse(head(bad), bad.length, "file c"))
                    .isInstanceOf(CorruptDataException.class)
                    .hasMessageContaining("class of label in row 2")
                    .hasMessageContaining(String.valueOf(id));
        }
    }

    private static String offsets(int[] ends) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * ends.length).order(ByteOrder.LITTLE_ENDIAN);
        Arrays.stream(ends).forEach(bytes::putInt);
        return new String(bytes.array(), StandardCharsets.ISO_8859_1);
    }

    /** Without the CRC's help: whatever a head's bytes are, parsing ends, in bounded memory, typed. */
    @Test
    void parsesAnyHeadOrRefusesItTyped(TestInfo test) {
        byte[] whole = good;
        int head = (int) packed.summary().headLength();
        Rounds.of(test).seconds(1).atLeast(10_000).run((random, round) -> {
            byte[] bad = Arrays.copyOf(whole, random.nextInt(20) == 0 ? random.nextInt(head) : head);
            for (int flips = 1 + random.nextInt(3); flips > 0 && bad.length > 0; flips--) {
                int at = random.nextInt(bad.length);
                bad[at] = random.nextBoolean() ? (byte) random.nextInt() : (byte) (random.nextInt(3) - 1);
            }
            try {
                ChunkHead parsed = ChunkHead.parse(ByteBuffer.wrap(bad), whole.length, "file c");
                useAll(parsed, bad.length, whole.length);
            } catch (StokerException e) {
                assertThat(e).hasMessageContaining("file c");
            }
        });
    }

    private static void useAll(ChunkHead head, int headLength, int fileLength) {
        for (int row = 0; row < head.rows(); row++) {
            head.key(row);
            for (int f = 0; f < head.fields().size(); f++) {
                if (head.fields().get(f).payload()) {
                    assertThat(head.payloadLength(f, row)).isGreaterThanOrEqualTo(0);
                    assertThat(head.payloadPosition(f, row))
                            .isBetween(headLength, fileLength - head.payloadLength(f, row));
                    head.payloadCrc32c(f, row);
                } else {
                    head.column(f).isNull(row);
                    head.rowBytes(row);
                    useItems(head.column(f), row);
                }
            }
        }
    }

    private static void useItems(ArrowColumn column, int row) {
        if (column.field().type().items() != null) {
            for (int item = 0; item < column.itemCount(row); item++) {
                column.isNullItem(row, item);
                assertThat(column.itemAt(row, item).remaining()).isGreaterThanOrEqualTo(0);
            }
        }
    }

    private void assertCorrupt(byte[] bad, String what) throws IOException {
        try {
            ChunkReader.verify(reader(bad));
        } catch (CorruptDataException | ForeignFileException | FormatTooNewException e) {
            return;
        } catch (RuntimeException e) {
            fail(what, e);
        }
        fail(what + " was not noticed");
    }

    private byte[] replaced(String before, String after) {
        byte[] from = before.getBytes(StandardCharsets.ISO_8859_1);
        byte[] to = after.getBytes(StandardCharsets.ISO_8859_1);
        byte[] bytes = good.clone();
        int found = 0;
        for (int at = 0; at + from.length <= bytes.length; at++) {
            if (Arrays.equals(bytes, at, at + from.length, from, 0, from.length)) {
                System.arraycopy(to, 0, bytes, at, to.length);
                found++;
            }
        }
        assertThat(found).isPositive();
        return bytes;
    }

    private ByteBuffer head(byte[] file) {
        return ByteBuffer.wrap(Arrays.copyOf(file, (int) packed.summary().headLength()));
    }

    private static RangeReader reader(byte[] file) {
        return new BufferRangeReader("file c", ByteBuffer.wrap(file));
    }

    @Test
    void namesAFeatureThatItDoesNotKnow() {
        byte[] newer = withRequires(Features.LIST);
        Features.assertNamed("file c", () -> ChunkHead.parse(head(newer), newer.length, "file c"));
        byte[] malformed = withRequires(Features.MALFORMED);
        Features.assertMalformed("file c", () -> ChunkHead.parse(head(malformed), malformed.length, "file c"));
    }

    private static byte[] withRequires(String json) {
        Map<String, String> metadata = new LinkedHashMap<>();
        metadata.put("stoker.format", "1");
        metadata.put("stoker.requires", json);
        return ArrowFile.write(new ArrowSchema(List.of(), metadata), List.of(), Map.of());
    }
}
