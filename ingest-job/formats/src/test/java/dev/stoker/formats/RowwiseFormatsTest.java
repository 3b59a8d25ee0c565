package dev.stoker.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.Zstd;
import dev.stoker.formats.detection.Formats;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;

class RowwiseFormatsTest {
    private static byte[] gzip(byte[] bytes) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(bytes);
        }
        return out.toByteArray();
    }

    private static String detect(String name, byte[] bytes) throws IOException {
        return Formats.detect(Rows.file(name, bytes)).map(RowFormat::name).orElse("none");
    }

    private static String detect(String name, String text) throws IOException {
        return detect(name, text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void detectsByContentFirst() throws Exception {
        assertThat(detect("a.txt", "{\"a\":1}\n{\"a\":2}\n")).isEqualTo("jsonl");
        assertThat(detect("a.csv", "{\"a\":1}\n{\"a\":2}\n")).isEqualTo("jsonl");
        assertThat(detect("a.csv", "a,b\n1,2\n")).isEqualTo("csv");
        assertThat(detect("a.TSV", "a\tb\n")).isEqualTo("csv");
        assertThat(detect("a.bin", new Tars().file("a.txt", "x").bytes())).isEqualTo("webdataset");
        assertThat(detect("a.tar", new byte[10240])).isEqualTo("webdataset");
        assertThat(detect("part-0", Rows.bytes("plain.tfrecord"))).isEqualTo("tfrecord");
        assertThat(detect("empty.tfrecord", new byte[0])).isEqualTo("tfrecord");
        assertThat(detect("empty.jsonl", new byte[0])).isEqualTo("jsonl");
    }

    @Test
    void leavesOtherFilesAlone() throws Exception {
        assertThat(detect("a.txt", "hello, world\n")).isEqualTo("none");
        assertThat(detect("a.json", "{\n \"a\": 1\n}\n")).isEqualTo("none");
        assertThat(detect("a.json", "[{\"a\": 1}]")).isEqualTo("none");
        assertThat(detect("a.csv", new byte[600])).isEqualTo("none");
        assertThat(detect("a.jpg", new byte[10240])).isEqualTo("none");
        assertThat(detect("a.json", "{\"a\": 1}\n")).isEqualTo("none");
        assertThat(detect("a.jpg", new byte[0])).isEqualTo("none");
        assertThat(detect("a.mds", "no shard at all")).isEqualTo("none");
        byte[] noise = new byte[10_000];
        new Random(5).nextBytes(noise);
        assertThat(detect("noise", noise)).isEqualTo("none");
    }

    @Test
    void detectsWhatIsInsideOfCompressedFiles() throws Exception {
        byte[] noise = new byte[300_000];
        new Random(5).nextBytes(noise);
        byte[] tar = new Tars().member("a.jpg", '0', noise).bytes();
        assertThat(detect("a", gzip(tar))).isEqualTo("webdataset");
        assertThat(detect("a", Zstd.compress(tar))).isEqualTo("webdataset");
        assertThat(detect("a.csv.gz", gzip("a,b\n".getBytes(StandardCharsets.UTF_8))))
                .isEqualTo("csv");
        assertThat(detect("a.csv.zst", Zstd.compress("a,b\n".getBytes(StandardCharsets.UTF_8))))
                .isEqualTo("csv");
        assertThat(detect("a.gz", gzip(Rows.bytes("plain.tfrecord")))).isEqualTo("tfrecord");
        assertThat(detect("a.gz", gzip("some text".getBytes(StandardCharsets.UTF_8))))
                .isEqualTo("none");
        // A head that is too short to decompress anything: the name decides.
        ByteBuffer head = ByteBuffer.wrap(Zstd.compress(tar)).limit(FileHead.FIRST_BYTES);
        assertThat(Formats.detect(new FileHead("a.tar.zst", 1 << 20, head, ByteBuffer.allocate(0)))
                        .map(RowFormat::name))
                .contains("webdataset");
    }

    @Test
    void detectsLongFirstLines() throws Exception {
        String line = "{\"a\":\"" + "é".repeat(5000) + "\"}\n";
        assertThat(detect("a.jsonl", line)).isEqualTo("jsonl");
        assertThat(detect("a.json", line)).isEqualTo("none");
        assertThat(detect("a.txt", line)).isEqualTo("none");
    }

    @Test
    void namesTheKnownFormats() {
        assertThat(Formats.named("csv").name()).isEqualTo("csv");
        assertThatThrownBy(() -> Formats.named("xml"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("unknown format 'xml'")
                .hasMessageContaining("csv, ")
                .hasMessageContaining("webdataset");
    }

    @Test
    void refusesBombs() throws Exception {
        byte[] zeros = new byte[64 << 20];
        for (byte[] bomb : new byte[][] {gzip(zeros), Zstd.compress(zeros)}) {
            assertThatThrownBy(() -> Rows.read(Formats.named("jsonl")
                            .open(Rows.file("bomb", bomb), new ReadLimits(1 << 30, 1 << 30, 32, 100))))
                    .isInstanceOf(DamagedFileException.class)
                    .hasMessageContaining("over the limit of 100 to 1");
        }
    }

    @Test
    void readsSeveralGzipMembersAndRefusesWhatIsBehindThem() throws Exception {
        byte[] one = gzip("{\"a\":1}\n".getBytes(StandardCharsets.UTF_8));
        byte[] two = new byte[2 * one.length + 100];
        System.arraycopy(one, 0, two, 0, one.length);
        System.arraycopy(one, 0, two, one.length, one.length);
        RowFormat format = Formats.named("jsonl");
        assertThat(Rows.read(format.open(Rows.file("a.gz", two), ReadLimits.DEFAULT)))
                .containsExactly("[1]", "[1]");
        two[2 * one.length + 50] = 7;
        assertThatThrownBy(() -> format.open(Rows.file("a.gz", two), ReadLimits.DEFAULT))
                .isInstanceOf(DamagedFileException.class)
                .hasMessageContaining("other bytes behind the gzip data");
    }
}
