package dev.stoker.formats.avro;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.formats.ValueSink;
import java.io.IOException;
import org.apache.avro.Schema;

/**
 * Reads single records in Avro's binary encoding, as the records of a container file. Lists whose items are optional
 * have null items, as later records may have some. Not thread-safe.
 */
public final class AvroRecords {
    private final AvroColumns columns;
    private AvroColumns.Decoder decoder;

    /**
     * @param name of the schema, for messages
     * @throws UnsupportedFileException if the schema does not describe a record, or a record contains itself
     */
    public AvroRecords(String name, Schema schema) throws UnsupportedFileException {
        ReadLimits limits = ReadLimits.DEFAULT;
        columns = new AvroColumns(name, schema, AvroColumns.OptionalItems.KEPT, limits.depth(), limits.valueBytes());
        decoder = columns.decoder(new int[0]);
    }

    /** Returns the columns of the records. */
    public RowSchema schema() {
        return columns.rows();
    }

    /**
     * Selects the columns that {@link #get} gives.
     *
     * @param selected indexes of columns: first the columns of the schema, then {@link RowSchema#nullLists}
     */
    public void select(int[] selected) throws UnsupportedFileException {
        decoder = columns.decoder(selected);
    }

    /**
     * Reads a record.
     *
     * @return number of bytes behind the record
     * @throws IOException if the bytes are not a record of the schema, with a clause
     */
    public int read(byte[] bytes, int from, int to) throws IOException {
        AvroBytes in = new AvroBytes(bytes, from, to);
        decoder.root().read(in);
        return in.remaining();
    }

    /** Returns whether the record has no value in a selected column. */
    public boolean isNull(int column) {
        return decoder.slots()[column].isNull();
    }

    /**
     * Gives the value that the record has in a selected column.
     *
     * @param column index into the selected columns
     */
    public void get(int column, ValueSink sink) throws BadValueException {
        decoder.slots()[column].give(sink);
    }
}
