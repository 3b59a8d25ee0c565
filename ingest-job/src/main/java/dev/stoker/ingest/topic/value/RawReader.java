package dev.stoker.ingest.topic.value;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ValueSink;
import dev.stoker.schemas.arrow.types.Field;
import java.nio.ByteBuffer;
import java.util.List;

/** Gives the bytes of a value to one column. For one thread. */
final class RawReader implements RecordReader {

    private final boolean[] takesValue;
    private ByteBuffer bytes = ByteBuffer.allocate(0);

    /** @param field the name of the column for the bytes */
    RawReader(List<Field> columns, String field) {
        takesValue = new boolean[columns.size()];
        for (int c = 0; c < takesValue.length; c++) {
            takesValue[c] = columns.get(c).name().equals(field);
        }
    }

    @Override
    public void read(ByteBuffer value) {
        bytes = value;
    }

    @Override
    public void get(int column, ValueSink sink) throws BadValueException {
        if (takesValue[column]) {
            sink.setBytes(bytes.duplicate());
        } else {
            sink.setNull();
        }
    }
}
