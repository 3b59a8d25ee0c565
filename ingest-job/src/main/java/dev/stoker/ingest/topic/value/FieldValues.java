package dev.stoker.ingest.topic.value;

import dev.stoker.flink.failure.Patience;
import dev.stoker.formats.BadValueException;
import dev.stoker.ingest.rows.pack.FieldSink;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.ChunkBuilder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Properties;

/** Sets the fields of the open row that a record's value fills. For one thread. */
final class FieldValues {

    private final RecordReader reader;
    private final FieldSink sink;
    private final List<Field> columns = new ArrayList<>();
    private final int[] places;

    /**
     * @param fields of the dataset
     * @param own the indexes of the fields that the value fills
     * @param clients settings of the Kafka clients
     */
    FieldValues(RecordFormat format, List<Field> fields, Collection<Integer> own, Properties clients)
            throws IOException {
        places = own.stream().mapToInt(Integer::intValue).sorted().toArray();
        for (int place : places) {
            columns.add(fields.get(place));
        }
        reader = RecordReader.of(format, columns, clients, Patience.endlessAfterRestore());
        sink = new FieldSink(fields, "send the record again with a value");
    }

    /**
     * Sets the fields.
     *
     * @param value has an array; its position is not changed
     * @throws PoisonException if the value is not in the format, or does not fit the fields; the caller must then
     *     abandon the row
     * @throws IOException if this cannot be determined
     */
    void set(ByteBuffer value, ChunkBuilder row) throws PoisonException, IOException {
        reader.read(value);
        sink.begin(row);
        for (int c = 0; c < places.length; c++) {
            try {
                reader.get(c, sink.at(places[c]));
            } catch (FieldSink.MissingValueException e) {
                throw new PoisonException(PoisonException.Reason.MISSING_FIELD, e.reason());
            } catch (BadValueException e) {
                throw new PoisonException(
                        PoisonException.Reason.FIELD,
                        "its field " + columns.get(c).name() + ": " + e.reason());
            }
        }
    }
}
