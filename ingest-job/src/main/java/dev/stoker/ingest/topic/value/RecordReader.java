package dev.stoker.ingest.topic.value;

import dev.stoker.flink.failure.Patience;
import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ValueSink;
import dev.stoker.schemas.arrow.types.Field;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Properties;

/** Reads the values of records as rows, by the rules of files. For one thread. */
interface RecordReader {

    /**
     * Reads a value.
     *
     * @param value has an array; its position is not changed
     * @throws PoisonException if it is not in the format
     * @throws IOException if this cannot be determined
     */
    void read(ByteBuffer value) throws PoisonException, IOException;

    /** Gives what the value has in a column. */
    void get(int column, ValueSink sink) throws BadValueException;

    /**
     * Returns the reader of a format.
     *
     * @param columns names and types of the columns
     * @param clients settings of the Kafka clients
     * @param patience decides how long a value waits for a schema registry that is unavailable
     */
    static RecordReader of(RecordFormat format, List<Field> columns, Properties clients, Patience patience)
            throws IOException {
        return switch (format.kind()) {
            case RAW -> new RawReader(columns, format.field());
            case JSON -> new JsonReader(columns);
            case AVRO -> new AvroReader(format, columns, clients, patience);
        };
    }
}
