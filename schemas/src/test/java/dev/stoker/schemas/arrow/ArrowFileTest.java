package dev.stoker.schemas.arrow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import dev.stoker.schemas.arrow.types.ArrowField;
import dev.stoker.schemas.arrow.types.ArrowSchema;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.FixedBinaryType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.StokerException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowFileReader;
import org.apache.arrow.vector.ipc.ArrowFileWriter;
import org.apache.arrow.vector.util.ByteArrayReadableSeekableByteChannel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ArrowFileTest {
    private static final ArrowSchema SCHEMA = new ArrowSchema(
            List.of(
                    ArrowField.of("ordinal", ScalarType.INT64),
                    ArrowField.of("id", new FixedBinaryType(16)),
                    ArrowField.of("live", ScalarType.BOOL),
                    ArrowField.of("crc", ScalarType.UINT32),
                    ArrowField.nullable("removed", new ListType(ScalarType.INT32)),
                    ArrowField.nullable("name", ScalarType.UTF8),
                    ArrowField.of("when", FieldType.parse("timestamp[us,Europe/Berlin]")),
                    ArrowField.of("local", FieldType.parse("timestamp[s]")),
                    ArrowField.of("day", FieldType.parse("date")),
                    ArrowField.of("noon", FieldType.parse("time[ms]")),
                    ArrowField.of("nanos", FieldType.parse("time[ns]")),
                    ArrowField.nullable("price", FieldType.parse("decimal(20,2)")),
                    ArrowField.nullable("tags", FieldType.parse("utf8[]")),
                    ArrowField.of("boxes", FieldType.parse("int16[][]"))),
            metadata());

    private static Map<String, String> metadata() {
        Map<String, String> metadata = new LinkedHashMap<>();
        metadata.put(ArrowFile.SELF_KEY, "once-only");
        metadata.put("z", "1");
        metadata.put("a", "ü");
        return metadata;
    }

    private static byte[] file(int rows) {
        List<ColumnBuilder> columns =
                SCHEMA.fields().stream().map(ColumnBuilder::new).toList();
        for (int row = 0; row < rows; row++) {
            columns.get(0).appendLong(row * 3L);
            byte[] id = new byte[16];
            Arrays.fill(id, (byte) row);
            columns.get(1).appendBytes(id);
            columns.get(2).appendBoolean(row % 3 == 0);
            columns.get(3).appendLong(0xFFFFFFFFL - row);
            if (row % 4 == 1) {
                columns.get(4).appendInts(row, -row, 7);
                columns.get(5).appendNull();
            } else {
                columns.get(4).appendNull();
                columns.get(5).appendString("n" + row + "ä");
            }
        }
        for (int row = 0; row < rows; row++) {
            for (int c = 6; c < 11; c++) {
                columns.get(c).appendLong(row * 1000L);
            }
            if (row % 2 == 0) {
                columns.get(11).appendNull();
                columns.get(12).appendNull();
            } else {
                columns.get(11).appendDecimal(BigDecimal.valueOf(-row, 2));
                columns.get(12).appendStrings(Collections.nCopies(row % 4, "t" + row));
            }
            columns.get(13).appendItems(Collections.nCopies(row % 3, ByteBuffer.allocate(2 * (row % 5))));
        }
        return ArrowFile.write(SCHEMA, columns, Map.of("end", "yes"));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 8, 9, 64, 1000})
    void readsWhatItWrote(int rows) throws IOException {
        ArrowFile file = ArrowFile.read(ByteBuffer.wrap(file(rows)), "t");
        check(file, rows);
        assertThat(file.schema()).isEqualTo(SCHEMA);
        assertThat(file.schema().metadata().keySet()).containsExactly(ArrowFile.SELF_KEY, "z", "a");
        assertThat(file.footerMetadata()).isEqualTo(Map.of("end", "yes"));
    }

    private static void check(ArrowFile file, int rows) {
        checkOtherTypes(file, rows);
        assertThat(file.rows()).isEqualTo(rows);
        for (int row = 0; row < rows; row++) {
            assertThat(file.column("ordinal").longAt(row)).isEqualTo(row * 3L);
            assertThat(file.column("id").bytesAt(row).get(5)).isEqualTo((byte) row);
            assertThat(file.column("id").valueLength(row)).isEqualTo(16);
            assertThat(file.column("live").booleanAt(row)).isEqualTo(row % 3 == 0);
            assertThat(file.column("crc").longAt(row)).isEqualTo(0xFFFFFFFFL - row);
            assertThat(file.column("crc").intAt(row)).isEqualTo(-1 - row);
            assertThat(file.column("removed").isNull(row)).isEqualTo(row % 4 != 1);
            assertThat(file.column("name").isNull(row)).isEqualTo(row % 4 == 1);
            if (row % 4 == 1) {
                assertThat(file.column("removed").intsAt(row)).containsExactly(row, -row, 7);
            } else {
                assertThat(file.column("removed").intsAt(row)).isEmpty();
                assertThat(file.column("name").stringAt(row)).isEqualTo("n" + row + "ä");
            }
        }
    }

    private static void checkOtherTypes(ArrowFile file, int rows) {
        assertThat(file.schema().fields()).isEqualTo(SCHEMA.fields());
        for (int row = 0; row < rows; row++) {
            for (String name : List.of("when", "local", "day", "noon", "nanos")) {
                assertThat(file.column(name).longAt(row)).as(name).isEqualTo(row * 1000L);
            }
            assertThat(file.column("price").isNull(row)).isEqualTo(row % 2 == 0);
            assertThat(file.column("tags").isNull(row)).isEqualTo(row % 2 == 0);
            if (row % 2 == 1) {
                assertThat(file.column("price").decimalAt(row)).isEqualTo(BigDecimal.valueOf(-row, 2));
                assertThat(file.column("tags").itemCount(row)).isEqualTo(row % 4);
                assertThat(file.column("tags").itemAt(row, 0).get(0)).isEqualTo((byte) 't');
            }
            assertThat(file.column("boxes").itemCount(row)).isEqualTo(row % 3);
            for (int item = 0; item < row % 3; item++) {
                assertThat(file.column("boxes").itemAt(row, item).remaining()).isEqualTo(2 * (row % 5));
            }
        }
    }

    @Test
    void writesTheSameBytesAgain() {
        assertThat(file(9)).isEqualTo(file(9));
    }

    @Test
    void writesTheSelfKeyOnce() {
        String text = new String(file(2), StandardCharsets.ISO_8859_1);
        assertThat(text.split("once-only", -1)).hasSize(2);
        assertThat(text.split("stoker.self", -1)).hasSize(2);
    }

    @Test
    void isReadByArrowVectorAndReadsWhatThatWrites() throws IOException {
        ByteArrayOutputStream copy = new ByteArrayOutputStream();
        try (BufferAllocator allocator = new RootAllocator();
                ArrowFileReader reader =
                        new ArrowFileReader(new ByteArrayReadableSeekableByteChannel(file(21)), allocator)) {
            VectorSchemaRoot root = reader.getVectorSchemaRoot();
            assertThat(root.getSchema().getCustomMetadata()).containsEntry("a", "ü");
            assertThat(reader.loadNextBatch()).isTrue();
            assertThat(root.getVector("ordinal").getObject(20)).isEqualTo(60L);
            assertThat(root.getVector("removed").getObject(5)).hasToString("[5,-5,7]");
            try (ArrowFileWriter writer = new ArrowFileWriter(root, null, Channels.newChannel(copy))) {
                writer.start();
                writer.writeBatch();
                writer.end();
            }
            assertThat(reader.loadNextBatch()).isFalse();
        }
        check(ArrowFile.read(ByteBuffer.wrap(copy.toByteArray()), "copy"), 21);
    }

    @Test
    void readsWhatPyarrowWrites() throws IOException {
        ArrowFile file = ArrowFile.read(foreign("pyarrow.arrow"), "p");
        assertThat(file.schema().metadata()).containsEntry("who", "pyarrow");
        assertThat(file.column("key").stringAt(2)).isEqualTo("ü");
        assertThat(file.column("n").isNull(1)).isTrue();
        assertThat(file.column("n").longAt(2)).isEqualTo(-3);
        assertThat(file.column("b").booleanAt(0)).isTrue();
        assertThat(file.column("b").nullCount()).isEqualTo(1);
        assertThat(file.column("l").intsAt(0)).containsExactly(1, 2);
        assertThat(file.column("l").isNull(1)).isTrue();
        assertThat(StandardCharsets.UTF_8.decode(file.column("f").bytesAt(1)).toString())
                .isEqualTo("4567");
        assertThat(file.column("h").doubleAt(2)).isInfinite();
    }

    @Test
    void saysWhyItReadsNoOtherArrowFiles() {
        assertThatThrownBy(() -> ArrowFile.read(foreign("pyarrow-lz4.arrow"), "p"))
                .isInstanceOf(ForeignFileException.class)
                .hasMessageContaining("compressed");
        assertThatThrownBy(() -> ArrowFile.read(foreign("pyarrow-dictionary.arrow"), "p"))
                .isInstanceOf(ForeignFileException.class)
                .hasMessageContaining("1 dictionaries");
        assertThatThrownBy(() -> ArrowFile.read(
                        ByteBuffer.wrap("no Arrow file at all ARROW1".getBytes(StandardCharsets.UTF_8)), "p"))
                .isInstanceOf(StokerException.class)
                .hasMessageContaining("p ");
    }

    @Test
    void refusesColumnsThatAreNotTheSchemas() {
        ColumnBuilder other = new ColumnBuilder(ArrowField.of("x", ScalarType.INT64));
        ArrowSchema schema = ArrowSchema.of(List.of(ArrowField.of("y", ScalarType.INT64)));
        assertThatThrownBy(() -> ArrowFile.write(schema, List.of(other), Map.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("x");
        assertThatThrownBy(() -> ArrowFile.write(schema, List.of(), Map.of()))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void noticesEveryTruncation() {
        byte[] good = file(9);
        for (int length = 0; length < good.length; length++) {
            ByteBuffer cut = ByteBuffer.wrap(good, 0, length);
            assertThatThrownBy(() -> ArrowFile.read(cut, "t"))
                    .isInstanceOfAny(CorruptDataException.class, ForeignFileException.class);
        }
    }

    /** A flipped bit of a value cannot be noticed here; but no access may then leave the file or run wild. */
    @Test
    void neverFailsOtherThanTypedOnAnyFlippedBit() {
        byte[] good = file(9);
        for (int at = 0; at < good.length; at++) {
            for (int bit = 0; bit < 8; bit++) {
                byte[] bad = good.clone();
                bad[at] ^= (byte) (1 << bit);
                try {
                    useAll(ArrowFile.read(ByteBuffer.wrap(bad), "t"));
                } catch (StokerException e) {
                    assertThat(e).hasMessageContaining("t ");
                } catch (RuntimeException e) {
                    fail("bit " + bit + " of byte " + at, e);
                }
            }
        }
    }

    private static void useAll(ArrowFile file) {
        for (int row = 0; row < file.rows(); row++) {
            for (int c = 0; c < file.schema().fields().size(); c++) {
                ArrowColumn column = file.column(c);
                column.isNull(row);
                if (column.field().type() == ScalarType.BOOL) {
                    column.booleanAt(row);
                } else {
                    assertThat(column.bytesAt(row).remaining()).isEqualTo(column.valueLength(row));
                }
            }
        }
    }

    private static ByteBuffer foreign(String name) throws IOException {
        try (InputStream in = ArrowFileTest.class.getResourceAsStream("/foreign/" + name)) {
            return ByteBuffer.wrap(in.readAllBytes());
        }
    }
}
