package dev.stoker.formats.parquet.column;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.NumberWriter;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.parquet.page.LeafReader;
import dev.stoker.formats.parquet.page.ValueBatch;
import java.io.IOException;

/** Lists of numbers. */
final class NumberLists extends ListValue {
    private final Scalar scalar;
    private final NumberWriter items;
    private String name = "";

    NumberLists(LeafReader reader, ColumnPath path, Scalar scalar, NumberWriter items) {
        super(reader, path);
        this.scalar = scalar;
        this.items = items;
    }

    @Override
    void clear() {
        items.clear();
    }

    @Override
    void beginList() {
        throw new IllegalStateException("there is one list only");
    }

    @Override
    void add() throws IOException, BadValueException {
        ValueBatch batch = reader.value();
        scalar.append(batch, reader.index(), items);
    }

    @Override
    void addNull(ColumnPath.Node missing) throws BadValueException {
        if (missing.kind() == ColumnPath.Kind.LIST) {
            super.addNull(missing);
        }
        name = missing.name();
        items.addNull();
    }

    @Override
    void giveItems(ValueSink sink) throws BadValueException {
        items.give(sink, name);
    }
}
