package dev.stoker.schemas.chunk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TensorType;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.io.BufferRangeReader;
import dev.stoker.schemas.values.Utf8Check;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChunkBuilderTest {
    private static final int LABEL = 0;
    private static final int SCORE = 1;
    private static final int IMAGE = 2;
    private static final int SEGMENT = 4096;

    private final ChunkBuilder builder = new ChunkBuilder(ChunkFixtures.IMAGES, SEGMENT);

    private void addRow(String key, String label, byte[] image) {
        builder.beginRow(key);
        builder.setClass(LABEL, label);
        builder.setBytes(IMAGE, ByteBuffer.wrap(image));
        builder.endRow();
    }

    private byte[] file() {
        return ChunkFixtures.bytes(builder.finish(ChunkFixtures.identity(0))).array();
    }

    private static byte[] noise(int length, int seed) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    @Test
    void payloadMayBeNull() throws IOException {
        List<Field> fields = List.of(
                Field.payload("must", ScalarType.BINARY),
                new Field("may", ScalarType.BINARY, true, true),
                new Field("box", new TensorType(ScalarType.UINT8, List.of(3)), true, true));
        ChunkBuilder nulls = new ChunkBuilder(fields, SEGMENT);
        for (int row = 0; row < 3; row++) {
            nulls.beginRow("k" + row);
            nulls.setBytes(0, ByteBuffer.wrap(new byte[] {1}));
            if (row == 0) {
                nulls.setNull(1);
                nulls.setNull(2);
            } else if (row == 2) {
                nulls.setBytes(1, ByteBuffer.wrap(new byte[] {7, 8}));
                nulls.setBytes(2, ByteBuffer.wrap(new byte[] {1, 2, 3}));
            }
            nulls.endRow();
        }
        PackedChunk packed = nulls.finish(ChunkFixtures.identity(1));
        ByteBuffer file = ChunkFixtures.bytes(packed);
        assertThat(ChunkReader.verify(new BufferRangeReader("c", file))).isEqualTo(packed.summary());
        ChunkHead head = ChunkReader.open(new BufferRangeReader("c", file));
        for (int row = 0; row < 3; row++) {
            for (int field : new int[] {1, 2}) {
                assertThat(head.column(field).isNull(row)).isEqualTo(row < 2);
            }
            assertThat(head.payloadLength(1, row)).isEqualTo(row < 2 ? 0 : 2);
            assertThat(head.payloadLength(2, row)).isEqualTo(3);
            assertThat(head.payloadCrc32c(2, row)).isEqualTo(Crc32cs.of(row < 2 ? new byte[3] : new byte[] {1, 2, 3}));
        }
        // key 4 + 2; must 4 + 1; may 1 + 4 + 2; box 1 + 3
        assertThat(packed.summary().largestRow()).isEqualTo(head.rowBytes(2)).isEqualTo(6 + 5 + 7 + 4);
        nulls.reset();
        nulls.beginRow("again");
        assertThatThrownBy(() -> nulls.setNull(0)).hasMessageContaining("'must' is not nullable");
        nulls.setBytes(0, ByteBuffer.allocate(0));
        nulls.setBytes(1, ByteBuffer.allocate(0));
        nulls.endRow();
        ByteBuffer other = ChunkFixtures.bytes(nulls.finish(ChunkFixtures.identity(2)));
        ChunkHead empty = ChunkReader.open(new BufferRangeReader("c", other));
        assertThat(empty.column(1).isNull(0)).isFalse();
        assertThat(empty.column(2).isNull(0)).isTrue();
    }

    @Test
    void aNullPayloadRowWithBytesIsDamage() throws IOException {
        List<Field> fields = List.of(new Field("may", ScalarType.BINARY, true, true));
        ChunkBuilder nulls = new ChunkBuilder(fields, SEGMENT);
        for (String key : List.of("a", "b")) {
            nulls.beginRow(key);
            if (key.equals("b")) {
                nulls.setBytes(0, ByteBuffer.wrap(new byte[] {7}));
            }
            nulls.endRow();
        }
        PackedChunk packed = nulls.finish(ChunkFixtures.identity(1));
        ByteBuffer head =
                ChunkFixtures.bytes(packed).limit((int) packed.summary().headLength());
        // The validity of the payload column is the buffer before its offsets, the last one of the head.
        int validity = head.limit() - 128;
        assertThat(head.get(validity)).isEqualTo((byte) 0b10);
        ChunkHead.parse(head, packed.summary().length(), "c");
        head.put(validity, (byte) 0b01);
        assertThatThrownBy(() -> ChunkHead.parse(head, packed.summary().length(), "c"))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("null of may in row 1: expected 0 zero bytes, found 1 bytes");
    }

    @Test
    void makesTheSameChunkHoweverPayloadComesIn(@TempDir Path folder) throws IOException {
        byte[] big = noise(3 * SEGMENT + 100, 1);
        byte[] small = noise(10, 2);
        addRow("a", "x", small);
        addRow("b", "y", big);
        addRow("c", "y", new byte[0]);
        byte[] expected = file();

        Path path = Files.write(folder.resolve("big"), big);
        builder.reset();
        addStream("a", "x", small);
        addStream("b", "y", big);
        addStream("c", "y", new byte[0]);
        assertThat(file()).isEqualTo(expected);

        builder.reset();
        addReserved("a", "x", small, 4000);
        builder.beginRow("b");
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            assertThat(builder.setBytes(IMAGE, channel, big.length)).isEqualTo(big.length);
        }
        builder.setClass(LABEL, "y");
        builder.endRow();
        addReserved("c", "y", new byte[0], 0);
        assertThat(file()).isEqualTo(expected);
    }

    @Test
    void refusesAClassThatALogEntryCannotHoldAndGoesOn() {
        addRow("a", "x", noise(10, 1));
        for (String name : List.of("\ud83d", "\udc00x", "x".repeat(65_536), "é".repeat(32_768))) {
            builder.beginRow("b");
            assertThatThrownBy(() -> builder.setClass(LABEL, name))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("the class name has");
            builder.abandonRow();
        }
        addRow("b", "x".repeat(65_535), noise(10, 2));
        addRow("c", "stoker.crc32c=00000000", noise(10, 3));
        assertThat(builder.rows()).isEqualTo(3);
        assertThat(file()).isNotEmpty();
    }

    @Test
    void refusesHalfASurrogatePairInPayload() {
        ChunkBuilder texts = new ChunkBuilder(List.of(new Field("text", ScalarType.UTF8, false, true)), SEGMENT);
        texts.beginRow("a");
        assertThatThrownBy(() -> texts.setString(0, "\ud83d"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("half a surrogate pair");
    }

    private void addStream(String key, String label, byte[] image) throws IOException {
        builder.beginRow(key);
        builder.setClass(LABEL, label);
        assertThat(builder.setBytes(IMAGE, new ByteArrayInputStream(image), 1 << 20))
                .isEqualTo(image.length);
        builder.endRow();
    }

    private void addReserved(String key, String label, byte[] image, int upTo) {
        builder.beginRow(key);
        ByteBuffer room = builder.reserve(IMAGE, upTo);
        assertThat(room.remaining()).isEqualTo(upTo);
        room.put(image);
        builder.commit(IMAGE, image.length);
        builder.setClass(LABEL, label);
        builder.endRow();
    }

    @Test
    void abandonsARowWithoutTrace() {
        addRow("a", "x", noise(100, 1));
        addRow("b", "again", noise(200, 2));
        byte[] expected = file();

        builder.reset();
        addRow("a", "x", noise(100, 1));
        builder.beginRow("dropped");
        builder.setClass(LABEL, "again");
        builder.setDouble(SCORE, 1);
        builder.setBytes(IMAGE, ByteBuffer.wrap(noise(5 * SEGMENT, 3)));
        builder.abandonRow();
        builder.beginRow("dropped too");
        builder.reserve(IMAGE, 1000).put(noise(1000, 4));
        builder.abandonRow();
        addRow("b", "again", noise(200, 2));
        assertThat(builder.rows()).isEqualTo(2);
        assertThat(file()).isEqualTo(expected);
    }

    @Test
    void abandonsTheFirstRowWithoutTrace() {
        builder.beginRow("dropped");
        builder.setBytes(IMAGE, ByteBuffer.wrap(noise(100, 3)));
        builder.abandonRow();
        builder.abandonRow();
        addRow("a", "x", noise(50, 1));
        byte[] expected = file();
        builder.reset();
        addRow("a", "x", noise(50, 1));
        assertThat(file()).isEqualTo(expected);
    }

    @Test
    void startsAgainAfterReset() {
        addRow("other", "z", noise(9 * SEGMENT, 9));
        builder.finish(ChunkFixtures.identity(0));
        builder.reset();
        assertThat(builder.rows()).isZero();
        addRow("a", "x", noise(50, 1));
        byte[] again = file();
        ChunkBuilder fresh = new ChunkBuilder(ChunkFixtures.IMAGES, SEGMENT);
        fresh.beginRow("a");
        fresh.setClass(LABEL, "x");
        fresh.setBytes(IMAGE, ByteBuffer.wrap(noise(50, 1)));
        fresh.endRow();
        assertThat(again)
                .isEqualTo(ChunkFixtures.bytes(fresh.finish(ChunkFixtures.identity(0)))
                        .array());
    }

    @Test
    void namesClassesInTheOrderOfTheirFirstUse() throws IOException {
        addRow("a", "zebra", noise(1, 1));
        addRow("b", "ant", noise(1, 1));
        addRow("c", "zebra", noise(1, 1));
        PackedChunk packed = builder.finish(ChunkFixtures.identity(0));
        assertThat(packed.classes().get("label")).containsExactly("zebra", "ant");
        ChunkHead head = ChunkReader.open(new BufferRangeReader("c", ChunkFixtures.bytes(packed)));
        assertThat(head.classes(LABEL)).containsExactly("zebra", "ant");
        assertThat(head.column(LABEL).intAt(2)).isZero();
    }

    @Test
    void refusesRowsThatAreNotWhole() {
        assertThatThrownBy(builder::endRow).isInstanceOf(IllegalStateException.class);
        builder.beginRow("a");
        assertThatThrownBy(() -> builder.beginRow("b")).hasMessageContaining("'a'");
        builder.setClass(LABEL, "x");
        assertThatThrownBy(() -> builder.setClass(LABEL, "x")).hasMessageContaining("twice");
        assertThatThrownBy(builder::endRow)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("'a'")
                .hasMessageContaining("'image'");
        assertThatThrownBy(() -> builder.finish(ChunkFixtures.identity(0))).hasMessageContaining("'a'");
        builder.abandonRow();
        assertThatThrownBy(() -> builder.finish(ChunkFixtures.identity(0))).hasMessageContaining("at least one row");
        assertThatThrownBy(() -> builder.setDouble(SCORE, 1)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> builder.beginRow("")).hasMessageContaining("key");
    }

    @Test
    void refusesValuesOfAnotherField() {
        builder.beginRow("a");
        assertThatThrownBy(() -> builder.setLong(LABEL, 1)).hasMessageContaining("categorical");
        assertThatThrownBy(() -> builder.setClass(SCORE, "x")).hasMessageContaining("'score'");
        assertThatThrownBy(() -> builder.setDouble(IMAGE, 1)).hasMessageContaining("'image'");
        assertThatThrownBy(() -> builder.reserve(SCORE, 1)).hasMessageContaining("'score'");
    }

    @Test
    void refusesPayloadThatIsNoValueOfItsType() {
        ChunkBuilder shaped = new ChunkBuilder(
                List.of(
                        Field.payload("t", new TensorType(ScalarType.INT16, List.of(2))),
                        Field.payload("l", new ListType(ScalarType.INT64)),
                        Field.payload("s", ScalarType.UTF8)),
                SEGMENT);
        shaped.beginRow("a");
        assertThatThrownBy(() -> shaped.setBytes(0, ByteBuffer.allocate(3))).hasMessageContaining("int16[2]");
        assertThatThrownBy(() -> shaped.setBytes(1, ByteBuffer.allocate(12))).hasMessageContaining("int64[]");
        byte[] broken = {'a', (byte) 0xE2, (byte) 0x82};
        assertThatThrownBy(() -> shaped.setBytes(2, ByteBuffer.wrap(broken)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("UTF-8")
                .hasMessageContaining("'s'");
    }

    @Test
    void refusesMoreThanTheLimit() {
        builder.beginRow("a");
        assertThatThrownBy(() -> builder.setBytes(IMAGE, new ByteArrayInputStream(new byte[11]), 10))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'a'")
                .hasMessageContaining("10 bytes");
        builder.abandonRow();
        builder.beginRow("a");
        assertThatThrownBy(
                        () -> builder.setBytes(IMAGE, Channels.newChannel(new ByteArrayInputStream(new byte[11])), 10))
                .isInstanceOf(IllegalArgumentException.class);
        builder.abandonRow();
        builder.beginRow("a");
        assertThatThrownBy(() -> builder.reserve(IMAGE, (1 << 30) + 2)).hasMessageContaining("1 GiB");
    }

    @Test
    void refusesFieldsOutOfOrder() {
        assertThatThrownBy(() -> new ChunkBuilder(
                        List.of(Field.payload("a", ScalarType.UTF8), Field.small("b", ScalarType.UTF8)), SEGMENT))
                .hasMessageContaining("'b'");
        assertThatThrownBy(() -> new ChunkBuilder(
                        List.of(Field.small("a", ScalarType.UTF8), Field.small("a", ScalarType.UTF8)), SEGMENT))
                .hasMessageContaining("'a'");
    }

    @Test
    void knowsBeforehandHowLongTheFileWillBe() {
        for (int i = 0; i < 40; i++) {
            byte[] image = noise(i * 50, i);
            long with = builder.lengthWith(image.length + 5);
            addRow("k" + i, "class \n" + i, image);
            long length = builder.finish(ChunkFixtures.identity(0)).summary().length();
            assertThat(length).isLessThanOrEqualTo(builder.length());
            assertThat(length).isLessThanOrEqualTo(with + 100);
        }
    }

    @Test
    void takesItsLargestRow() throws IOException {
        addRow("a", "x", noise(100, 1));
        addRow("bbb", "x", noise(300, 1));
        addRow("c", "x", noise(200, 1));
        ChunkSummary summary = builder.finish(ChunkFixtures.identity(0)).summary();
        // key 4 + 3, label 4, score 1 + 4, image 4 + 300
        assertThat(summary.largestRow()).isEqualTo(320);
    }

    @Test
    void writesTheFileInOneGo(@TempDir Path folder) throws IOException {
        addRow("a", "x", noise(3 * SEGMENT, 1));
        PackedChunk packed = builder.finish(ChunkFixtures.identity(0));
        Path path = folder.resolve("chunk");
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            packed.writeTo(channel);
        }
        byte[] written = Files.readAllBytes(path);
        assertThat(written).hasSize((int) packed.summary().length());
        assertThat(Crc32cs.of(written)).isEqualTo(packed.summary().crc32c());
        assertThat(ChunkFixtures.bytes(packed).array()).isEqualTo(written);
    }

    @Test
    void tellsUtf8FromOtherBytesWhateverTheCuts() {
        Random random = new Random(1);
        Utf8Check check = new Utf8Check();
        for (int round = 0; round < 20_000; round++) {
            byte[] bytes = "aé漢😀abcdefgh".repeat(2).getBytes(StandardCharsets.UTF_8);
            bytes = Arrays.copyOfRange(bytes, random.nextInt(5), bytes.length - random.nextInt(5));
            if (random.nextBoolean()) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            int cut = random.nextInt(bytes.length + 1);
            check.reset();
            check.update(ByteBuffer.wrap(bytes, 0, cut));
            check.update(ByteBuffer.wrap(bytes, cut, bytes.length - cut));
            boolean expected =
                    Arrays.equals(new String(bytes, StandardCharsets.UTF_8).getBytes(StandardCharsets.UTF_8), bytes);
            assertThat(check.isComplete()).as("%s", Arrays.toString(bytes)).isEqualTo(expected);
        }
    }
}
