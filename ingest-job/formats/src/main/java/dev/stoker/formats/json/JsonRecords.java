package dev.stoker.formats.json;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.ValueSink;
import dev.stoker.schemas.arrow.types.FieldType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Reads records that are one JSON object each, as lines of a file of JSON lines whose columns are declared. Other keys
 * are left out. Not thread-safe.
 */
public final class JsonRecords {
    private final JsonObjects objects = objects();
    private final JsonRow row;

    /** @param columns names and types of the columns */
    public JsonRecords(List<Map.Entry<String, FieldType>> columns) {
        Set<String> names = new HashSet<>();
        columns.forEach(column -> names.add(column.getKey()));
        row = new JsonRow(objects, JsonRow.Unknown.IGNORED, names, columns, names);
    }

    private static JsonObjects objects() {
        return new JsonObjects(ReadLimits.DEFAULT, "record", "; write a record for each of its items");
    }

    /**
     * Reads a record.
     *
     * @param value has an array; its position is not changed
     * @throws NotJsonException if it is not one JSON object
     */
    public void read(ByteBuffer value) throws NotJsonException {
        parse(objects, value, row::read);
    }

    /** Gives the value that the record has in a column. */
    public void get(int column, ValueSink sink) throws BadValueException {
        row.emit(column, sink);
    }

    /**
     * Infers the columns of the first records. Records that are not JSON are left out.
     *
     * @param values the values of the records
     * @param places says where a record is, by its index, such as "record 3"
     */
    public static JsonSchema infer(List<? extends @Nullable ByteBuffer> values, LongFunction<String> places) {
        JsonObjects objects = objects();
        JsonInference inference = new JsonInference(places, Map.of());
        for (int i = 0; i < values.size(); i++) {
            ByteBuffer value = values.get(i);
            long number = i;
            if (value != null) {
                try {
                    parse(objects, value, parser -> inference.see(parser, number));
                } catch (NotJsonException e) {
                    // The reader reports it.
                }
            }
        }
        return inference.schema();
    }

    private static void parse(JsonObjects objects, ByteBuffer value, JsonObjects.Visitor visitor)
            throws NotJsonException {
        int from = value.arrayOffset() + value.position();
        int to = value.arrayOffset() + value.limit();
        byte[] bytes = value.array();
        try {
            objects.parse(bytes, from + JsonObjects.bomLength(bytes, from, to), to, -from, visitor);
        } catch (NotJsonException e) {
            throw e;
        } catch (IOException e) {
            throw new NotJsonException("it cannot be read", e);
        }
    }
}
