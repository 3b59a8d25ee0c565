package dev.stoker.cli.samples;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.TokenBuffer;
import dev.stoker.formats.values.JsonValues;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.json.Json;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Supplier;

/** The values of samples as JSON, by the rules of an export. Bytes are Base64, and every value has a form. */
public final class SampleJson {

    private static final JsonValues VALUES = new JsonValues(new Forms());

    private SampleJson() {}

    /** The forms of values that an export to JSON lines refuses. */
    private static final class Forms implements JsonValues.Special {
        @Override
        public void notFinite(double value, JsonGenerator out) throws IOException {
            out.writeString(Double.toString(value));
        }

        @Override
        public void beyondCalendar(FieldType type, long units, JsonGenerator out) throws IOException {
            out.writeNumber(units);
        }

        @Override
        public void bytes(ByteBuffer bytes, JsonGenerator out) throws IOException {
            byte[] copy = new byte[bytes.remaining()];
            bytes.get(copy);
            out.writeBinary(copy);
        }
    }

    /** Returns all fields of a sample, with their payload. */
    public static ObjectNode fields(ReadSample sample) throws IOException {
        ObjectNode node = Json.object();
        for (int f = 0; f < sample.fields().size(); f++) {
            Field field = sample.fields().get(f);
            if (sample.isNull(f)) {
                node.putNull(field.name());
            } else if (field.payload()) {
                TokenBuffer buffer = new TokenBuffer(Json.PLAIN, false);
                VALUES.write(field.type(), sample.content(f).slice(), buffer);
                node.set(field.name(), Json.PLAIN.readTree(buffer.asParser()));
            } else {
                int number = f;
                node.set(
                        field.name(),
                        value(sample.columns().apply(f), () -> sample.classes().apply(number), sample.row()));
            }
        }
        return node;
    }

    /** Returns the value of a small field of a chunk. */
    public static JsonNode value(ChunkHead chunk, int field, int row) throws IOException {
        return value(chunk.column(field), () -> chunk.classes(field), row);
    }

    private static JsonNode value(ArrowColumn column, Supplier<List<String>> classes, int row) throws IOException {
        TokenBuffer buffer = new TokenBuffer(Json.PLAIN, false);
        VALUES.write(column, column.field().type(), () -> classes.get().get(column.intAt(row)), row, buffer);
        return Json.PLAIN.readTree(buffer.asParser());
    }
}
