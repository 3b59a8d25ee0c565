package dev.stoker.formats.parquet.column;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.parquet.page.LeafReader;
import dev.stoker.formats.parquet.page.ValueBatch;
import java.io.IOException;

/** A column that is in no list. */
class FlatValue implements Value {
    private final LeafReader reader;
    private final Scalar scalar;
    private long row;

    FlatValue(LeafReader reader, Scalar scalar) {
        this.reader = reader;
        this.scalar = scalar;
    }

    @Override
    public void give(long wanted, ValueSink sink) throws IOException, BadValueException {
        if (reader.moveInBatch(wanted - row)) {
            row = wanted;
        } else {
            moveTo(wanted);
        }
        if (reader.hasValue()) {
            ValueBatch batch = reader.value();
            scalar.give(batch, reader.index(), sink);
        } else {
            sink.setNull();
        }
    }

    private void moveTo(long wanted) throws IOException {
        if (row < wanted) {
            reader.skipRows(wanted - row);
            row = wanted;
        }
        if (!reader.hasLevel()) {
            throw reader.damaged("it has too few rows");
        }
    }

    @Override
    public void end(long rows) throws IOException {
        if (row == rows - 1) {
            reader.skipRows(1);
            row = rows;
        }
        if (row == rows && reader.hasLevel()) {
            throw reader.damaged("it has too many rows");
        }
    }
}
