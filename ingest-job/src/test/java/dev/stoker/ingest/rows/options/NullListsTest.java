package dev.stoker.ingest.rows.options;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.ingest.RowIngestJob;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files in which the items of a column's lists have the type null, as writers infer it from empty lists. */
class NullListsTest {
    private static final byte[] SYNC = new byte[16];

    /** Three rows: an empty list, another one, and no list. */
    private static final int[] EMPTY = {2, 0, 2, 0, 0};

    @TempDir
    private Path directory;

    private Path source;

    @BeforeEach
    void createSource() throws IOException {
        source = Files.createDirectory(directory.resolve("source"));
    }

    private List<String> plan(String... options) throws IOException {
        List<String> arguments = new ArrayList<>(
                List.of(source.toString(), directory.resolve("data").toString(), "--dry-run", "--order", "listed"));
        arguments.addAll(Arrays.asList(options));
        return RowIngestJob.plan(RowIngestOptions.parse(arguments.toArray(String[]::new)));
    }

    /** Writes an Avro file of one column, whose values are null or of a type. */
    private void avro(String name, String type, int rows, int... data) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(new byte[] {'O', 'b', 'j', 1, 2});
        text(out, "avro.schema");
        text(
                out,
                "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"v\",\"type\":[\"null\"," + type + "]}]}");
        out.write(0);
        out.writeBytes(SYNC);
        out.write(2 * rows);
        out.write(2 * data.length);
        for (int value : data) {
            out.write(value);
        }
        out.writeBytes(SYNC);
        Files.write(source.resolve(name), out.toByteArray());
    }

    /** Writes a length of two bytes and the text. */
    private static void text(ByteArrayOutputStream out, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int length = 2 * bytes.length;
        out.write((length & 0x7f) | 0x80);
        out.write(length >> 7);
        out.writeBytes(bytes);
    }

    private void emptyLists() throws IOException {
        avro("a.avro", "{\"type\":\"array\",\"items\":\"null\"}", 3, EMPTY);
    }

    private void numbers() throws IOException {
        avro("b.avro", "{\"type\":\"array\",\"items\":\"double\"}", 1, 2, 2, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0);
    }

    @Test
    void takeTheTypeThatTheUserNames() throws Exception {
        emptyLists();

        for (String type : List.of("float64[]", "float64?[]", "utf8[]", "int32[][]")) {
            List<String> values = plan("--type", "v=" + type).stream()
                    .filter(line -> line.contains(": v="))
                    .map(line -> line.substring(line.indexOf(": v=") + 2))
                    .toList();
            assertThat(values).as(type).hasSize(3).endsWith("v=null");
            assertThat(values.subList(0, 2)).as(type).allMatch(value -> value.startsWith("v=[0 "), "an empty list");
        }
    }

    @Test
    void takeTheTypeOfTheOtherFiles() throws Exception {
        emptyLists();
        numbers();

        for (String[] options : new String[][] {{}, {"--type", "v=float64[]"}, {"--columns", "v"}}) {
            List<String> lines = plan(options);
            assertThat(lines.stream().filter(line -> line.contains(": v=")).toList())
                    .as(String.join(" ", options))
                    .hasSize(4)
                    .satisfiesExactly(
                            line -> assertThat(line).endsWith("v=[0 numbers]"),
                            line -> assertThat(line).endsWith("v=[0 numbers]"),
                            line -> assertThat(line).endsWith("v=null"),
                            line -> assertThat(line).endsWith("v=[1 number]"));
        }
    }

    @Test
    void areRefusedWithTheNextStepIfNobodyNamesAType() throws Exception {
        emptyLists();

        assertThatThrownBy(this::plan)
                .hasMessageContaining("the column v in a.avro (null) cannot become a field: all its items are null, or"
                        + " all its lists are empty; give its type, such as --type v=float64[]; or leave it out with"
                        + " --without v");
    }

    @Test
    void refuseATypeThatIsNoList() throws Exception {
        emptyLists();

        assertThatThrownBy(() -> plan("--type", "v=int64"))
                .hasMessageContaining("the column v in a.avro (null) cannot become a field: it is a list of nulls, but"
                        + " its declared type is int64, which is no list; declare a list, such as --type v=float64[]");

        avro("b.avro", "\"double\"", 1, 2, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f);
        for (String[] options : new String[][] {{}, {"--type", "v=float64"}, {"--columns", "v"}}) {
            assertThatThrownBy(() -> plan(options))
                    .as(String.join(" ", options))
                    .hasMessageContaining("the column v in a.avro (null) cannot become a field: it is a list of nulls,"
                            + " but in other files float64, which is no list; ingest the files apart");
        }
    }

    @Test
    void aNullItemIsNamedUnlessTheTypeHoldsIt() throws Exception {
        avro("a.avro", "{\"type\":\"array\",\"items\":\"null\"}", 2, 2, 4, 0, 2, 0);

        assertThat(plan("--type", "v=float64?[]")).anyMatch(line -> line.contains(": v=[2 "));
        assertThatThrownBy(() -> plan("--type", "v=float64[]"))
                .hasMessageContaining(
                        "the column v: an item of a list is null; keep such items with --type v=float64?[],"
                                + " or leave the column out with --without v");
    }
}
