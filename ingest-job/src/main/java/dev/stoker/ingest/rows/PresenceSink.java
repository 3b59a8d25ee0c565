package dev.stoker.ingest.rows;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.ValueSink;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.List;

/** Takes values, and says whether there is one. For one thread. */
final class PresenceSink implements ValueSink {
    private boolean isPresent;

    /** Returns whether the present row has a value. */
    boolean of(RowReader rows, int column) throws IOException, BadValueException {
        isPresent = true;
        rows.get(column, this);
        return isPresent;
    }

    @Override
    public void setNull() {
        isPresent = false;
    }

    @Override
    public void setBytes(ByteBuffer value) {}

    @Override
    public void setBytesList(List<ByteBuffer> items) {}

    @Override
    public void setLists(ByteBuffer items, int[] lengths) {}

    @Override
    public void setLong(long value) {}

    @Override
    public void setDouble(double value) {}

    @Override
    public void setDecimal(BigDecimal value) {}
}
