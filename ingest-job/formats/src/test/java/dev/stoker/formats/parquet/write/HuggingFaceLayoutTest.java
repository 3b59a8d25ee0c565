package dev.stoker.formats.parquet.write;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.formats.Batches;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.Rows;
import dev.stoker.formats.parquet.ParquetFormat;
import dev.stoker.formats.write.OutputColumn;
import dev.stoker.formats.write.RowOutput;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.testing.Rounds;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** Files in the layout of the library datasets, read by the reader of this module. */
class HuggingFaceLayoutTest {
    private static final ParquetLayout LAYOUT = new ParquetLayout(true, Set.of("image"));

    private static final List<Field> FIELDS = List.of(
            Field.nullable("label", ScalarType.CATEGORICAL),
            Field.nullable("tokens", FieldType.parse("int32[]")),
            Field.nullable("tags", FieldType.parse("utf8[]")),
            Field.nullable("boxes", FieldType.parse("int32[][]")),
            Field.nullable("shape", FieldType.parse("float32[2,2]")),
            Field.nullable("score", ScalarType.FLOAT32),
            new Field("image", ScalarType.BINARY, true, true),
            new Field("sound", ScalarType.BINARY, false, true));

    private static List<Object> row(Random random, int number) {
        List<Object> row = new ArrayList<>(List.of("k" + number));
        row.add(List.of("cat", "dog", "ant").get(random.nextInt(3)));
        row.add(Batches.ints(random.ints(random.nextInt(4)).toArray()));
        row.add(List.of("a", "", "b").subList(0, random.nextInt(4)));
        ByteBuffer[] boxes = new ByteBuffer[random.nextInt(4)];
        Arrays.setAll(
                boxes,
                i -> ByteBuffer.wrap(Batches.ints(random.ints(random.nextInt(3)).toArray())));
        row.add(boxes);
        row.add(Batches.floats(number, 2, 3, 4));
        row.add(number / 4.0);
        row.add(bytes(random));
        row.add(bytes(random));
        for (int f = 0; f < FIELDS.size(); f++) {
            if (FIELDS.get(f).nullable() && random.nextInt(4) == 0) {
                row.set(f + 1, null);
            }
        }
        return row;
    }

    private static byte[] bytes(Random random) {
        byte[] bytes = new byte[random.nextInt(40) == 0 ? 1 << 20 : random.nextInt(5000)];
        random.nextBytes(bytes);
        return bytes;
    }

    private static RowFile file(Batches.Made made, ParquetLayout layout, long groupBytes) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (RowOutput output = new ParquetOutput(out, made.table(), layout, groupBytes)) {
            output.write(made.rows());
            output.write(made.rows());
            output.finish();
        }
        return new ParquetFormat().open(Rows.file("a.parquet", out.toByteArray()), ReadLimits.DEFAULT);
    }

    private static List<Map<String, JsonNode>> values(RowFile file) throws Exception {
        List<Map<String, JsonNode>> rows = new ArrayList<>();
        List<RowColumn> columns = file.schema().columns();
        for (JsonNode node : Rows.nodes(file)) {
            Map<String, JsonNode> row = new LinkedHashMap<>();
            for (int c = 0; c < columns.size(); c++) {
                row.put(columns.get(c).name(), node.get(c));
            }
            rows.add(row);
        }
        return rows;
    }

    @Test
    void bothLayoutsHaveTheSameValues(TestInfo test) {
        Rounds.of(test).run((random, round) -> {
            List<List<Object>> rows = new ArrayList<>();
            for (int i = 0; i < 150; i++) {
                rows.add(row(random, i));
            }
            for (String compression : List.of("none", "zstd")) {
                Batches.Made made = Batches.of(FIELDS, rows).compressed(compression);
                try (RowFile own = file(made, ParquetLayout.STOKER, ParquetOutput.GROUP_BYTES);
                        RowFile other = file(made, LAYOUT, 1 << 20)) {
                    assertThat(other.parts().size()).isGreaterThan(1);
                    List<Map<String, JsonNode>> found = values(other);
                    found.forEach(
                            row -> assertThat(row.remove("image.path").isNull()).isTrue());
                    assertThat(found.equals(values(own))).isTrue();
                }
            }
        });
    }

    @Test
    void imagesAndClassesComeBackAndTensorsAreLists() throws Exception {
        Random random = new Random(1);
        List<List<Object>> rows = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            rows.add(row(random, i));
        }
        Batches.Made made = Batches.of(FIELDS, rows);
        try (RowFile file = file(made, LAYOUT, ParquetOutput.GROUP_BYTES)) {
            Map<String, String> types = new LinkedHashMap<>();
            for (RowColumn column : file.schema().columns()) {
                assertThat(column.nullable()).isTrue();
                types.put(column.name(), column.type().canonical() + " " + column.role());
            }
            assertThat(types)
                    .containsEntry("image", "binary PAYLOAD")
                    .containsEntry("sound", "binary NONE")
                    .containsEntry("label", "categorical LABEL")
                    .containsEntry("tokens", "int32[] NONE")
                    .containsEntry("tags", "utf8[] NONE")
                    .containsEntry("boxes", "int32[][] NONE")
                    .containsEntry("shape", "float32[] NONE");
            List<String> classes = file.schema().columns().stream()
                    .filter(column -> column.name().equals("label"))
                    .findFirst()
                    .orElseThrow()
                    .classes();
            assertThat(classes).isEqualTo(made.table().columns().get(1).classes());
        }
    }

    @Test
    void thePlanNamesTheFeatures() {
        ParquetRowWriter writer = ParquetRowWriter.huggingFace(Set.of("image"));
        assertThat(writer.type(new OutputColumn("image", ScalarType.BINARY, false, true, List.of())))
                .isEqualTo("Image: struct of bytes and path");
        assertThat(writer.type(new OutputColumn("label", ScalarType.CATEGORICAL, false, false, List.of("cat"))))
                .isEqualTo("ClassLabel: INT64");
        assertThat(writer.type(new OutputColumn("sound", ScalarType.BINARY, false, true, List.of())))
                .isEqualTo("BINARY");
    }
}
