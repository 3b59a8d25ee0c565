package dev.stoker.schemas.chunk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.io.BufferRangeReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.dictionary.DictionaryEncoder;
import org.apache.arrow.vector.ipc.ArrowFileReader;
import org.apache.arrow.vector.util.ByteArrayReadableSeekableByteChannel;
import org.junit.jupiter.api.Test;

/** Class names of categorical columns in a chunk. {@code good} is the head of 6 rows. */
class ChunkDictionaryTest {
    private static final List<Field> FIELDS = List.of(
            Field.small("label", ScalarType.CATEGORICAL),
            Field.nullable("mood", ScalarType.CATEGORICAL),
            Field.payload("data", ScalarType.BINARY));
    private static final int LABEL = 0;
    private static final int MOOD = 1;

    /** Bytes of a dictionary batch in front of its offsets. */
    private static final int HEAD = 256;

    private final byte[] file = file("zebra", "ant", "zebra", "bee", "ant", "zebra");
    private final byte[] good = head("zebra", "ant", "zebra", "bee", "ant", "zebra");

    private static byte[] file(String... labels) {
        return ChunkFixtures.bytes(chunk(labels)).array();
    }

    private static byte[] head(String... labels) {
        PackedChunk packed = chunk(labels);
        return Arrays.copyOf(
                ChunkFixtures.bytes(packed).array(), (int) packed.summary().headLength());
    }

    private static PackedChunk chunk(String... labels) {
        ChunkBuilder builder = new ChunkBuilder(FIELDS, 4096);
        for (int row = 0; row < labels.length; row++) {
            builder.beginRow("k" + row);
            builder.setClass(LABEL, labels[row]);
            if (row % 3 == 1) {
                builder.setClass(MOOD, "good " + labels[row]);
            }
            builder.setBytes(2, ByteBuffer.wrap(new byte[row]));
            builder.endRow();
        }
        return builder.finish(ChunkFixtures.identity(0));
    }

    @Test
    void numbersNamesByTheirFirstUse() throws IOException {
        ChunkHead head = ChunkReader.open(new BufferRangeReader("c", ByteBuffer.wrap(file)));
        assertThat(head.classes(LABEL)).containsExactly("zebra", "ant", "bee");
        assertThat(head.classes(MOOD)).containsExactly("good ant");
        assertThat(head.classes(2)).isEmpty();
        assertThat(head.column(LABEL).intAt(3)).isEqualTo(2);
        assertThat(head.column(MOOD).isNull(0)).isTrue();
    }

    @Test
    void keepsAColumnWithoutAnyClass() throws IOException {
        ChunkBuilder builder = new ChunkBuilder(List.of(Field.nullable("mood", ScalarType.CATEGORICAL)), 4096);
        builder.beginRow("k");
        builder.endRow();
        byte[] none =
                ChunkFixtures.bytes(builder.finish(ChunkFixtures.identity(0))).array();
        ChunkHead head = ChunkReader.open(new BufferRangeReader("c", ByteBuffer.wrap(none)));
        assertThat(head.classes(0)).isEmpty();
        assertThat(head.column(0).isNull(0)).isTrue();
        try (BufferAllocator allocator = new RootAllocator();
                ArrowFileReader reader =
                        new ArrowFileReader(new ByteArrayReadableSeekableByteChannel(none), allocator)) {
            assertThat(reader.loadNextBatch()).isTrue();
            assertThat(reader.getVectorSchemaRoot().getVector("mood").isNull(0)).isTrue();
        }
    }

    /** Each dictionary has the number of its column. */
    @Test
    void isReadByArrowVector() throws IOException {
        try (BufferAllocator allocator = new RootAllocator();
                ArrowFileReader reader =
                        new ArrowFileReader(new ByteArrayReadableSeekableByteChannel(file), allocator)) {
            assertThat(reader.loadNextBatch()).isTrue();
            assertThat(reader.getDictionaryVectors()).containsOnlyKeys(1L, 2L);
            try (VarCharVector labels = (VarCharVector) DictionaryEncoder.decode(
                    reader.getVectorSchemaRoot().getVector("label"),
                    reader.getDictionaryVectors().get(1L))) {
                assertThat(labels.getObject(0)).hasToString("zebra");
                assertThat(labels.getObject(3)).hasToString("bee");
                assertThat(labels.getObject(4)).hasToString("ant");
            }
        }
    }

    @Test
    void refusesANameTwice() {
        byte[] bad = good.clone();
        // "zebraantbee" becomes "zebraantant".
        System.arraycopy("ant".getBytes(StandardCharsets.UTF_8), 0, bad, textOf(LABEL) + 8, 3);
        assertThatThrownBy(() -> parse(bad))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("file c")
                .hasMessageContaining("class names of label, name 2")
                .hasMessageContaining("'ant' again");
    }

    @Test
    void refusesNamesThatAreNotUtf8() {
        byte[] bad = good.clone();
        bad[textOf(LABEL) + 6] = (byte) 0xFF;
        assertThatThrownBy(() -> parse(bad))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("file c")
                .hasMessageContaining("name 1")
                .hasMessageContaining("UTF-8");
    }

    @Test
    void refusesMoreNamesThanRows() {
        byte[] bad = withLabelsOf(head("a"), head("a", "b"));
        assertThatThrownBy(() -> parse(bad))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("number of class names of label")
                .hasMessageContaining("at most 1")
                .hasMessageContaining("found 2");
    }

    @Test
    void refusesANameThatIsTooLong() {
        byte[] bad = head("x".repeat(65_535), "y");
        ByteBuffer.wrap(bad).order(ByteOrder.LITTLE_ENDIAN).putInt(place(bad, LABEL)[0] + HEAD + 4, 65_536);
        assertThatThrownBy(() -> parse(bad))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("length of name 0")
                .hasMessageContaining("65536");
    }

    /** The declared number is checked against the bytes before memory is taken for it. */
    @Test
    void refusesADeclaredNumberOfNamesThatTheHeadCannotHold() {
        for (long rows : new long[] {7, 1 << 20, Integer.MAX_VALUE, Long.MAX_VALUE, -1}) {
            byte[] bad = good.clone();
            ByteBuffer bytes = ByteBuffer.wrap(bad).order(ByteOrder.LITTLE_ENDIAN);
            bytes.putLong(start(LABEL) + 112, rows).putLong(start(LABEL) + 136, rows);
            assertThatThrownBy(() -> parse(bad))
                    .as("%s names", rows)
                    .isInstanceOf(CorruptDataException.class)
                    .hasMessageContaining("file c")
                    .hasMessageMatching("(?s).*(column class names of label|dictionary of column label).*");
        }
    }

    @Test
    void refusesAnotherDictionaryInItsPlace() {
        byte[] bad = good.clone();
        bad[start(LABEL) + 80] = 2;
        assertThatThrownBy(() -> parse(bad))
                .isInstanceOf(ForeignFileException.class)
                .hasMessageContaining("dictionary 1 of column label")
                .hasMessageContaining("dictionary 2");
        byte[] missing = good.clone();
        byte[] mood = Arrays.copyOfRange(good, start(MOOD), end(MOOD));
        System.arraycopy(mood, 0, missing, start(LABEL), mood.length);
        assertThatThrownBy(() -> parse(missing)).isInstanceOf(ForeignFileException.class);
    }

    @Test
    void refusesAMissingDictionary() throws IOException {
        ByteArrayOutputStream bad = new ByteArrayOutputStream();
        bad.write(good, 0, start(LABEL));
        bad.write(good, end(MOOD), good.length - end(MOOD));
        assertThatThrownBy(() -> parse(bad.toByteArray()))
                .isInstanceOf(ForeignFileException.class)
                .hasMessageContaining("file c")
                .hasMessageContaining("dictionary of column label");
    }

    @Test
    void damageInADictionaryNeverFailsOtherThanTyped() {
        for (int at = start(LABEL); at < end(MOOD); at++) {
            for (int bit = 0; bit < 8; bit++) {
                byte[] bad = good.clone();
                bad[at] ^= (byte) (1 << bit);
                try {
                    assertThat(parse(bad).classes(LABEL)).hasSize(3);
                } catch (StokerException e) {
                    assertThat(e).hasMessageContaining("file c");
                } catch (RuntimeException e) {
                    fail("bit " + bit + " of byte " + at, e);
                }
            }
        }
    }

    private static ChunkHead parse(byte[] head) throws StokerException {
        return ChunkHead.parse(ByteBuffer.wrap(head), head.length + 4096L, "file c");
    }

    private int start(int field) {
        return place(good, field)[0];
    }

    private int end(int field) {
        return place(good, field)[1];
    }

    private int textOf(int field) {
        return start(field) + HEAD + 64;
    }

    /** Where the dictionary of a field begins and ends. */
    private static int[] place(byte[] head, int field) {
        ByteBuffer bytes = ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN);
        int at = 16 + bytes.getInt(12);
        for (int f = 0; ; f++) {
            int end = at + HEAD + (int) bytes.getLong(at + 8 + 32);
            if (f == field) {
                return new int[] {at, end};
            }
            at = end;
        }
    }

    /** A head with the label dictionary of another one. */
    private static byte[] withLabelsOf(byte[] head, byte[] other) {
        int[] place = place(head, LABEL);
        int[] from = place(other, LABEL);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(head, 0, place[0]);
        out.write(other, from[0], from[1] - from[0]);
        out.write(head, place[1], head.length - place[1]);
        return out.toByteArray();
    }
}
