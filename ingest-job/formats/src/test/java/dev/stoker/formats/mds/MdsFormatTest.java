package dev.stoker.formats.mds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.Rows;
import dev.stoker.formats.UnsupportedFileException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MdsFormatTest {
    private static final MdsFormat FORMAT = new MdsFormat();

    private static MdsIndex index(String folder) throws IOException {
        return MdsIndex.parse(folder + "/index.json", Rows.bytes(folder + "/index.json"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"mds", "mds-zstd", "mds-gz", "mds-snappy"})
    void readsTheShardsOfAnIndexAndChecksTheirHashes(String folder) throws Exception {
        assertThat(MdsIndex.recognises(Rows.bytes(folder + "/index.json"))).isTrue();
        MdsIndex.Shard shard = index(folder).shards().get(0);
        String name = folder + "/" + shard.stored().name();
        RowFile file = FORMAT.open(Rows.resource(name), ReadLimits.DEFAULT, shard);
        assertThat(file.parts().get(0).rows()).isEqualTo(3);
        assertThat(Rows.read(file)).hasSize(3);

        MdsIndex.StoredFile stored = shard.stored();
        var wrong = new MdsIndex.StoredFile(stored.name(), stored.bytes(), Map.of("sha1", "00"));
        var other = new MdsIndex.Shard(
                shard.zip() == null ? wrong : shard.raw(), shard.zip() == null ? null : wrong, "", 3);
        assertThatThrownBy(() -> Rows.read(FORMAT.open(Rows.resource(name), ReadLimits.DEFAULT, other)))
                .isInstanceOf(DamagedFileException.class)
                .hasMessageContaining("its sha1 is")
                .hasMessageContaining("but the index says 00");
    }

    @Test
    void refusesPicklesByName() throws Exception {
        RowFile file = FORMAT.open(Rows.resource("mds/shard.00000.mds"), ReadLimits.DEFAULT);
        assertThat(file.schema().refused()).hasSize(1);
        assertThat(file.schema().refused().get(0).name()).isEqualTo("p");
        assertThat(file.schema().refused().get(0).reason()).contains("pickle");
    }

    @Test
    void refusesOtherCompressionsByName() {
        assertThatThrownBy(() -> FORMAT.open(Rows.resource("mds-br/shard.00000.mds.br"), ReadLimits.DEFAULT))
                .isInstanceOf(UnsupportedFileException.class)
                .hasMessageContaining("is compressed with br");
    }

    @Test
    void refusesShardsOutsideOfTheDirectory() throws Exception {
        String json = new String(Rows.bytes("mds/index.json"), StandardCharsets.UTF_8);
        for (String name : new String[] {"../../etc/passwd", "/etc/passwd", "a/../b", "", "s3://x"}) {
            byte[] hostile = json.replace("shard.00000.mds", name).getBytes(StandardCharsets.UTF_8);
            assertThatThrownBy(() -> MdsIndex.parse("index.json", hostile))
                    .isInstanceOf(UnsupportedFileException.class)
                    .hasMessageContaining("not a path below the index");
        }
        byte[] newer = json.replace("\"version\": 2", "\"version\": 3").getBytes(StandardCharsets.UTF_8);
        assertThatThrownBy(() -> MdsIndex.parse("index.json", newer)).isInstanceOf(UnsupportedFileException.class);
    }

    /** A shard with one column. */
    private static byte[] shard(String encoding, Integer size, byte[]... values) {
        byte[] config = ("{\"version\":2,\"format\":\"mds\",\"column_names\":[\"x\"],\"column_encodings\":[\""
                        + encoding + "\"],\"column_sizes\":[" + size + "]}")
                .getBytes(StandardCharsets.UTF_8);
        int length = 4 + 4 * (values.length + 1) + config.length;
        ByteBuffer out = ByteBuffer.allocate(1 << 12).order(ByteOrder.LITTLE_ENDIAN);
        out.putInt(values.length).putInt(length);
        for (byte[] value : values) {
            length += value.length + (size == null ? 4 : 0);
            out.putInt(length);
        }
        out.put(config);
        for (byte[] value : values) {
            if (size == null) {
                out.putInt(value.length);
            }
            out.put(value);
        }
        byte[] bytes = new byte[out.position()];
        out.flip().get(bytes);
        return bytes;
    }

    private static RowFile open(byte[] shard) throws IOException {
        return FORMAT.open(Rows.file("x.mds", shard), ReadLimits.DEFAULT);
    }

    @Test
    void refusesArraysOfAnotherShapeAlone() throws Exception {
        byte[] flat = {33, 1 << 2, 1, 5, 0, 0, 0};
        byte[] square = {33, 2 << 2, 1, 1, 6, 0, 0, 0};
        byte[] cube = {33, 3 << 2, 1, 1, 1, 6, 0, 0, 0};
        assertThat(Rows.read(open(shard("ndarray", null, flat, square, flat))).toString())
                .isEqualTo(
                        "[[[5]], [\"refused: an array of int32 and shape [1, 1] is not int32[], as the first one of the"
                                + " shard is\"], [[5]]]");
        assertThat(Rows.read(open(shard("ndarray", null, square)))).containsExactly("[[[6]]]");
        assertThat(open(shard("ndarray", null, cube)).schema().refused().get(0).reason())
                .contains("fixed shape");
    }

    @Test
    void readsNumbersInText() throws Exception {
        assertThat(Rows.read(open(shard(
                                "str_int",
                                null,
                                "12".getBytes(StandardCharsets.UTF_8),
                                "99999999999999999999".getBytes(StandardCharsets.UTF_8))))
                        .toString())
                .isEqualTo("[[12], [\"refused: '99999999999999999999' does not fit into int64\"]]");
        assertThat(Rows.read(open(shard(
                                "str_float",
                                null,
                                "1e-05".getBytes(StandardCharsets.UTF_8),
                                "inf".getBytes(StandardCharsets.UTF_8),
                                "x".getBytes(StandardCharsets.UTF_8))))
                        .toString())
                .isEqualTo("[[1.0E-5], [\"Infinity\"], [\"refused: 'x' is not a number\"]]");
    }

    @Test
    void refusesAnEncodingWhoseSizeIsWrongAndUnknownEncodings() throws Exception {
        assertThatThrownBy(() -> open(shard("int32", 8, new byte[8])))
                .isInstanceOf(DamagedFileException.class)
                .hasMessageContaining("values of column x have 8 bytes, but its encoding int32 has 4");
        assertThat(open(shard("pil", null, new byte[8]))
                        .schema()
                        .refused()
                        .get(0)
                        .reason())
                .contains("png or jpeg");
        assertThat(open(shard("new", null, new byte[8]))
                        .schema()
                        .refused()
                        .get(0)
                        .reason())
                .contains("not known");
    }

    @ParameterizedTest
    @ValueSource(strings = {"jpeg", "jpeg:90", "png"})
    void imagesArePayloadInAnyQuality(String encoding) throws Exception {
        RowFile file = open(shard(encoding, null, new byte[] {-1, -40}));
        assertThat(file.schema().columns()).singleElement().satisfies(column -> {
            assertThat(column.type().canonical()).isEqualTo("binary");
            assertThat(column.role()).isEqualTo(RowColumn.Role.PAYLOAD);
        });
        assertThat(Rows.read(file).toString()).contains("ffd8");
        assertThat(open(shard("jpeg:best", null, new byte[1])).schema().refused())
                .hasSize(1);
    }

    @Test
    void refusesHugeNumbersOfSamplesBeforeReadingThem() {
        byte[] head = {-1, -1, -1, -1, 0, 0, 0, 0};
        assertThatThrownBy(() -> open(head))
                .isInstanceOf(UnsupportedFileException.class)
                .hasMessageContaining("4294967295 samples");
    }

    @Test
    void readsAShardWithoutSamples() throws Exception {
        assertThat(Rows.read(open(shard("ndarray:int32", null)))).isEmpty();
    }

    @Test
    void refusesDescriptionsThatAreNotUtf8() {
        byte[] utf32 = {0, 0, 0, '{', 0x55, 4, 1, 8};
        assertThatThrownBy(() -> MdsIndex.parse("index.json", utf32))
                .isInstanceOf(DamagedFileException.class)
                .hasMessageContaining("index.json is damaged");
    }
}
