package dev.stoker.schemas.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.BatchColumns;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TensorType;
import dev.stoker.schemas.chunk.ChunkFixtures;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.testing.Rounds;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

class ViewTest {
    private static final List<String> FIELDS = List.of("label", "caption", "image");

    @Test
    void agreesWithTheVectors() throws IOException {
        for (JsonNode f : vectors().get("views")) {
            List<String> fields = texts(f.get("fields"));
            View view = f.get("columns").isNull() ? View.whole(fields) : View.of(fields, texts(f.get("columns")));
            assertThat(view.text()).isEqualTo(f.get("text").textValue());
            assertThat(View.digits(view.tag())).isEqualTo(f.get("tag").textValue());
            assertThat(View.parse(view.text(), fields)).isEqualTo(view);
            assertThat(View.of(fields, view.selected())).isEqualTo(view);
            assertThat(view.isWhole()).isEqualTo(view.tag() == View.WHOLE_TAG);
        }
    }

    @Test
    void refusesColumnsWithTheMessagesOfTheVectors() throws IOException {
        for (JsonNode f : vectors().get("errors")) {
            assertThatThrownBy(() -> View.of(texts(f.get("fields")), texts(f.get("columns"))))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage(f.get("message").textValue());
        }
    }

    @Test
    void refusesNumbersOfNoColumn() {
        BitSet beyond = new BitSet();
        assertThatThrownBy(() -> View.of(FIELDS, beyond)).hasMessage("columns {}: expected at least one of 0 to 3");
        beyond.set(4);
        assertThatThrownBy(() -> View.of(FIELDS, beyond)).hasMessage("columns {4}: expected at least one of 0 to 3");
    }

    @Test
    void readsOnlyTheCanonicalText() {
        String text = View.of(FIELDS, List.of("key", "image")).text();
        for (String other : List.of(
                text.replace("\"key\",\"image\"", "\"image\",\"key\""),
                text.replace("[\"key\",\"image\"]", "[\"key\",\"label\",\"caption\",\"image\"]"),
                text.replace(",", ", "),
                text.replace("\"transform\":null,", ""),
                text.replace("\"image\"", "\"other\""),
                "{",
                "",
                "[]")) {
            assertThatThrownBy(() -> View.parse(other, FIELDS)).as(other).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void aMessageHasOnlyTheColumnsOfItsView(TestInfo test) {
        Rounds.of(test).seconds(0.5).atLeast(10).run((random, round) -> aMessageHasOnlyTheColumnsOfItsView(random));
    }

    private static void aMessageHasOnlyTheColumnsOfItsView(Random random) throws IOException {
        List<Field> fields = ChunkFixtures.ALL_TYPES;
        BatchBuilder whole = new BatchBuilder(fields);
        PackedChunk packed = ChunkFixtures.random(fields, 30, 1, random).finish(ChunkFixtures.identity(1));
        List<String> classes =
                List.of("class \"e\"", "class \"d\"", "none has it", "class \"a\"", "class \"b\"", "class \"c\"");
        BatchChunk[] chunks = {BatchFixtures.open(whole, packed, classes)};
        for (int n = 0; n < 4; n++) {
            List<String> wanted = new ArrayList<>();
            if (random.nextBoolean()) {
                wanted.add(Field.KEY);
            }
            fields.stream().filter(f -> random.nextInt(4) == 0).forEach(f -> wanted.add(f.name()));
            if (wanted.isEmpty()) {
                continue;
            }
            View view = View.of(fields.stream().map(Field::name).toList(), wanted);
            BatchBuilder builder = new BatchBuilder(fields, view);
            int rows = random.nextInt(20);
            int[] rowOf = random.ints(rows, 0, 30).toArray();
            BatchMessage message = builder.build(chunks, new int[rows], rowOf, 0, rows, BatchFixtures::scratch);
            byte[] bytes = BatchFixtures.bytes(message);
            assertThat(message.crc32c()).as("%s", wanted).isEqualTo(Crc32cs.of(bytes));
            long row = builder.largestRow(packed.summary().largestRow());
            assertThat((long) bytes.length).isLessThanOrEqualTo(builder.largestMessage(rows, row));
            List<ArrowColumn> columns = BatchColumns.read(ByteBuffer.wrap(bytes), fields, view.numbers(), "a batch");
            assertThat(columns).hasSameSizeAs(wanted);
            for (int c = 0; c < columns.size(); c++) {
                int number = view.numbers()[c];
                ArrowColumn column =
                        number == 0 ? chunks[0].head().keys() : chunks[0].head().column(number - 1);
                for (int i = 0; i < rows; i++) {
                    assertThat(columns.get(c).isNull(i)).isEqualTo(column.isNull(rowOf[i]));
                    if (column.field().type().hasOffsets() && !column.isNull(rowOf[i])) {
                        assertThat(columns.get(c).valueLength(i)).isEqualTo(column.valueLength(rowOf[i]));
                    }
                }
            }
        }
    }

    @Test
    void boundsARowByTheColumnsThatItHas() {
        List<Field> fields = List.of(
                Field.small("label", ScalarType.INT32),
                Field.nullable("weight", ScalarType.FLOAT32),
                Field.payload("text", ScalarType.UTF8),
                Field.payload("pixels", new TensorType(ScalarType.UINT8, List.of(100))));
        // Key of 3 bytes, text of 43.
        long largest = (4 + 3) + 4 + 5 + (4 + 43) + 100;
        assertThat(largestRow(fields, largest, "label")).isEqualTo(4);
        assertThat(largestRow(fields, largest, "weight", "pixels")).isEqualTo(105);
        assertThat(largestRow(fields, largest, "text")).isEqualTo(4 + 43 + 3);
        assertThat(largestRow(fields, largest, "key", "label")).isEqualTo(4 + 3 + 4 + 43);
        assertThat(largestRow(fields, largest, "key", "label", "weight", "text", "pixels"))
                .isEqualTo(largest);
    }

    private static long largestRow(List<Field> fields, long largest, String... columns) {
        View view = View.of(fields.stream().map(Field::name).toList(), List.of(columns));
        return new BatchBuilder(fields, view).largestRow(largest);
    }

    private static JsonNode vectors() throws IOException {
        try (InputStream in = ViewTest.class.getResourceAsStream("/vectors/view.json")) {
            return new JsonMapper().readTree(in);
        }
    }

    private static List<String> texts(JsonNode array) {
        List<String> texts = new ArrayList<>();
        array.forEach(text -> texts.add(text.textValue()));
        return texts;
    }
}
