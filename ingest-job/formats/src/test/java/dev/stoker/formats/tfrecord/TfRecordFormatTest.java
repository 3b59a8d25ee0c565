package dev.stoker.formats.tfrecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.formats.ColumnHints;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.Rows;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.schemas.arrow.types.FieldType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TfRecordFormatTest {
    private static final TfRecordFormat FORMAT = new TfRecordFormat();

    private static RowFile open(byte[] file, String... types) throws IOException {
        Map<String, FieldType> map = new LinkedHashMap<>();
        for (int i = 0; i < types.length; i += 2) {
            map.put(types[i], FieldType.parse(types[i + 1]));
        }
        return FORMAT.open(Rows.file("a.tfrecord", file), ReadLimits.DEFAULT, ColumnHints.types(map));
    }

    @Test
    void readsListsThatAreNotPackedAndFeaturesWithoutValues() throws Exception {
        byte[] unpacked = TfRecords.field(3, new byte[] {8, 5, 8, 6});
        byte[] file = TfRecords.concat(
                TfRecords.example(TfRecords.feature("a", unpacked), TfRecords.feature("b", new byte[0])),
                TfRecords.example(
                        TfRecords.feature("a", TfRecords.field(3)), TfRecords.feature("b", TfRecords.ints(7))),
                TfRecords.example());
        assertThat(Rows.read(open(file))).containsExactly("[[5,6],null]", "[[],7]", "[null,null]");
    }

    @Test
    void refusesFeaturesOfTwoKindsByName() throws Exception {
        byte[] first = TfRecords.example(TfRecords.feature("a", TfRecords.ints(1)));
        RowFile file = open(TfRecords.concat(
                first, TfRecords.example(TfRecords.feature("a", TfRecords.field(1, TfRecords.field(1, new byte[] {'x'
                }))))));
        assertThat(file.schema().columns()).isEmpty();
        assertThat(file.schema().refused().get(0).reason())
                .isEqualTo("its first values are int64, but the record at offset " + first.length + " has bytes");
    }

    @Test
    void refusesMoreThanOneValueInAColumnOfSingleValues() throws Exception {
        byte[] file = TfRecords.concat(
                TfRecords.example(TfRecords.feature("a", TfRecords.ints(1))),
                TfRecords.example(TfRecords.feature("a", TfRecords.ints(1, 2))),
                TfRecords.example(TfRecords.feature("a", TfRecords.ints(3))));
        assertThat(Rows.read(open(file, "a", "int32")).get(1))
                .contains("it has 2 values, not one; use --type a=int32[]");
        assertThat(Rows.read(open(file, "a", "uint8[]"))).containsExactly("[[1]]", "[[1,2]]", "[[3]]");
        assertThat(Rows.read(open(file)).get(1)).isEqualTo("[[1,2]]");
    }

    @Test
    void readsDeclaredTypes() throws Exception {
        byte[] text = TfRecords.field(1, TfRecords.field(1, "2026-01-31".getBytes(StandardCharsets.UTF_8)));
        byte[] floats = TfRecords.field(2, TfRecords.field(1, new byte[] {0, 0, -128, 63, 0, 0, 0, 64}));
        byte[] file = TfRecords.example(
                TfRecords.feature("d", text),
                TfRecords.feature("f", floats),
                TfRecords.feature("i", TfRecords.ints(1)),
                TfRecords.feature("t", text));
        assertThat(Rows.read(open(file, "d", "date", "f", "float32[2,1]", "i", "bool", "t", "utf8")))
                .containsExactly("[20484,[1.0,2.0],1,\"2026-01-31\"]");
        assertThat(Rows.read(open(file, "d", "int64", "f", "int64[]", "i", "utf8", "t", "float64"))
                        .get(0))
                .contains("bytes are not int64")
                .contains("float is not int64[]")
                .contains("int64 is not utf8")
                .contains("bytes are not float64");
    }

    @Test
    void skipsFieldsThatAnExampleDoesNotHave() throws Exception {
        byte[] own = TfRecords.field(1, TfRecords.feature("a", TfRecords.ints(7)));
        byte[] number = {9 << 3, 1};
        byte[] wide = {10 << 3 | 1, 1, 2, 3, 4, 5, 6, 7, 8};
        byte[] narrow = {11 << 3 | 5, 1, 2, 3, 4};
        byte[] text = TfRecords.field(12, new byte[] {'x'});
        RowFile file = open(TfRecords.frame(TfRecords.concat(
                TfRecords.concat(number, own), TfRecords.concat(TfRecords.concat(wide, narrow), text))));
        assertThat(Rows.read(file)).containsExactly("[7]");
        assertThatThrownBy(() -> open(TfRecords.frame(number)))
                .isInstanceOf(UnsupportedFileException.class)
                .hasMessageContaining("is not a tf.train.Example (it has a field 9)");
    }

    @Test
    void refusesSequenceExamplesAndOtherMessagesByName() throws Exception {
        assertThatThrownBy(() -> FORMAT.open(Rows.resource("sequence.tfrecord"), ReadLimits.DEFAULT))
                .isInstanceOf(UnsupportedFileException.class)
                .hasMessageContaining(
                        "sequence.tfrecord: the TFRecord record at offset 0 is a tf.train.SequenceExample");
        assertThatThrownBy(() -> open(TfRecords.frame("hello".getBytes(StandardCharsets.UTF_8))))
                .isInstanceOf(UnsupportedFileException.class)
                .hasMessageContaining("is not a tf.train.Example");
    }

    @Test
    void goesOnBehindARecordWithDamagedData() throws Exception {
        byte[] one = TfRecords.example(TfRecords.feature("a", TfRecords.ints(1)));
        byte[] damaged = one.clone();
        damaged[14] ^= 1;
        RowFile file = open(TfRecords.concat(
                one,
                damaged,
                TfRecords.example(TfRecords.feature("a", TfRecords.ints(2))),
                TfRecords.example(TfRecords.feature("b", TfRecords.ints(2)))));
        try (RowReader reader = file.read(file.parts().get(0), new int[] {0})) {
            assertThat(reader.next()).isTrue();
            assertThatThrownBy(reader::next)
                    .isInstanceOf(DamagedFileException.class)
                    .hasMessageContaining("the TFRecord record at offset " + one.length)
                    .hasMessageContaining("the checksum of its data is wrong");
            assertThat(reader.skip()).isTrue();
            assertThat(reader.next()).isTrue();
            assertThat(reader.position()).isEqualTo(2L * one.length);
        }
    }

    @Test
    void namesALaterFeature() throws Exception {
        byte[] one = TfRecords.example(TfRecords.feature("a", TfRecords.ints(1)));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int i = 0; i < 1000; i++) {
            out.writeBytes(one);
        }
        out.writeBytes(TfRecords.example(TfRecords.feature("new", TfRecords.ints(2))));
        assertThatThrownBy(() -> Rows.read(open(out.toByteArray())))
                .isInstanceOf(DamagedFileException.class)
                .hasMessageContaining("has the feature 'new', which is not among the columns; add it with --type new=");
    }

    @Test
    void refusesHugeRecordsBeforeReadingThem() {
        ByteBuffer header = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN);
        header.putLong(1L << 40);
        header.putInt(TfRecords.crc(header.array(), 0, 8));
        assertThatThrownBy(() -> open(header.array()))
                .isInstanceOf(UnsupportedFileException.class)
                .hasMessageContaining("needs 1099511627776 bytes of memory");
    }

    @Test
    void readsAnEmptyFileAsNoRows() throws Exception {
        assertThat(Rows.read(open(new byte[0]))).isEmpty();
    }
}
