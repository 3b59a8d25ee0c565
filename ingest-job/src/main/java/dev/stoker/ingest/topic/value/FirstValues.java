package dev.stoker.ingest.topic.value;

import dev.stoker.connectors.kafka.SourceRecord;
import dev.stoker.flink.failure.Patience;
import dev.stoker.formats.BadValueException;
import dev.stoker.ingest.rows.read.SizeSink;
import dev.stoker.schemas.arrow.types.Field;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/** What the first records have in the columns of a reader. Not thread-safe. */
public final class FirstValues {

    private final List<Field> columns;
    private final long[] bytes;
    private final boolean[] hasNulls;
    private int records;

    private FirstValues(List<Field> columns) {
        this.columns = columns;
        this.bytes = new long[columns.size()];
        this.hasNulls = new boolean[columns.size()];
    }

    /**
     * Reads the values of records. Records that cannot become samples are left out.
     *
     * @param columns the fields that the value fills
     * @param clients settings of the Kafka clients
     */
    public static FirstValues of(
            List<SourceRecord> records, RecordFormat format, List<Field> columns, Properties clients)
            throws IOException {
        return of(records, columns, RecordReader.of(format, columns, clients, Patience.ofBatch()));
    }

    static FirstValues of(List<SourceRecord> records, List<Field> columns, RecordReader reader) throws IOException {
        FirstValues first = new FirstValues(columns);
        SizeSink sink = new SizeSink();
        for (SourceRecord record : records) {
            try {
                if (record.value() != null) {
                    reader.read(record.value());
                    first.add(reader, sink);
                }
            } catch (PoisonException e) {
                // The task writes a dead letter.
            }
        }
        return first;
    }

    private void add(RecordReader reader, SizeSink sink) {
        records++;
        for (int c = 0; c < bytes.length; c++) {
            try {
                reader.get(c, sink.begin().of(columns.get(c).type()));
                bytes[c] += sink.bytes();
                hasNulls[c] |= sink.hasNull();
            } catch (BadValueException e) {
                // The task writes a dead letter.
            }
        }
    }

    /** Returns whether no value can be read. */
    public boolean isEmpty() {
        return records == 0;
    }

    /** Returns the bytes of the values of variable length in a column, on average. */
    public double bytes(int column) {
        return (double) bytes[column] / records;
    }

    /** Returns the columns: nullable if one of the records has no value. */
    List<Field> withNulls() {
        List<Field> fields = new ArrayList<>();
        for (int c = 0; c < bytes.length; c++) {
            Field column = columns.get(c);
            fields.add(new Field(column.name(), column.type(), hasNulls[c], false));
        }
        return fields;
    }
}
