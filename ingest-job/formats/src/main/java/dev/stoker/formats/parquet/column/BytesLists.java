package dev.stoker.formats.parquet.column;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.NullItems;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.parquet.page.LeafReader;
import dev.stoker.formats.parquet.page.ValueBatch;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/** Lists of text or of bytes. */
final class BytesLists extends ListValue {
    /** Memory of an item besides its bytes. */
    private static final int ITEM_BYTES = 64;

    private final Scalar scalar;
    private final long maxBytes;
    private final boolean nullIsEmpty;
    private final List<ByteBuffer> items = new ArrayList<>();
    private final BitSet nulls = new BitSet();
    private long size;
    private String name = "";

    /** @param nullIsEmpty whether a null item becomes an empty one, as for the path of a file without a path */
    BytesLists(LeafReader reader, ColumnPath path, Scalar scalar, long maxBytes, boolean nullIsEmpty) {
        super(reader, path);
        this.nullIsEmpty = nullIsEmpty;
        this.scalar = scalar;
        this.maxBytes = maxBytes;
    }

    @Override
    void clear() {
        items.clear();
        size = 0;
        nulls.clear();
    }

    @Override
    void beginList() {
        throw new IllegalStateException("there is one list only");
    }

    @Override
    void add() throws IOException, BadValueException {
        ValueBatch batch = reader.value();
        add(scalar.bytes(batch, reader.index()));
    }

    @Override
    void addNull(ColumnPath.Node missing) throws BadValueException {
        if (missing.kind() == ColumnPath.Kind.LIST) {
            super.addNull(missing);
        }
        add(ByteBuffer.allocate(0));
        if (!nullIsEmpty) {
            name = missing.name();
            nulls.set(items.size() - 1);
        }
    }

    private void add(ByteBuffer item) throws BadValueException {
        size += item.remaining() + ITEM_BYTES;
        if (size > maxBytes) {
            throw new BadValueException("the list has more than " + maxBytes + " bytes, which is the limit of a value");
        }
        items.add(item.slice());
    }

    @Override
    void giveItems(ValueSink sink) throws BadValueException {
        NullItems.give(items, nulls, name, sink);
    }
}
