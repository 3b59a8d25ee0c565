package dev.stoker.ingest.topic.value;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.json.JsonRecords;
import dev.stoker.formats.json.NotJsonException;
import dev.stoker.schemas.arrow.types.Field;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;

/** Reads values that are one JSON object. Leaves out keys without a column. For one thread. */
final class JsonReader implements RecordReader {

    private final JsonRecords records;

    JsonReader(List<Field> columns) {
        records = new JsonRecords(columns.stream()
                .map(column -> Map.entry(column.name(), column.type()))
                .toList());
    }

    @Override
    public void read(ByteBuffer value) throws PoisonException {
        try {
            records.read(value);
        } catch (NotJsonException e) {
            throw new PoisonException(PoisonException.Reason.VALUE, "it is not a JSON object: " + e.getMessage());
        }
    }

    @Override
    public void get(int column, ValueSink sink) throws BadValueException {
        records.get(column, sink);
    }
}
