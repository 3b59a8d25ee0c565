package dev.stoker.formats.parquet.column;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.NumberWriter;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.parquet.page.LeafReader;
import dev.stoker.formats.parquet.page.ValueBatch;
import java.io.IOException;
import java.util.Arrays;

/** Lists of lists of numbers. */
final class ListsOfLists extends ListValue {
    private final Scalar scalar;
    private final NumberWriter items;
    private final long maxLists;
    private int[] lengths = new int[16];
    private int lists;

    /** @param maxBytes length of a value, including 4 bytes for each inner list */
    ListsOfLists(LeafReader reader, ColumnPath path, Scalar scalar, NumberWriter items, long maxBytes) {
        super(reader, path);
        this.scalar = scalar;
        this.items = items;
        this.maxLists = maxBytes / Integer.BYTES;
    }

    @Override
    void clear() {
        items.clear();
        lists = 0;
    }

    @Override
    void beginList() throws BadValueException {
        if (lists == maxLists) {
            throw new BadValueException("the list has more than " + maxLists + " inner lists, which is the limit");
        }
        if (lists == lengths.length) {
            lengths = Arrays.copyOf(lengths, (int) Math.min(Integer.MAX_VALUE - 16, lists * 2L));
        }
        lengths[lists++] = 0;
    }

    @Override
    void add() throws IOException, BadValueException {
        if (lists == 0) {
            throw reader.damaged("a row begins inside an inner list");
        }
        ValueBatch batch = reader.value();
        scalar.append(batch, reader.index(), items);
        lengths[lists - 1]++;
    }

    @Override
    void giveItems(ValueSink sink) throws BadValueException {
        sink.setLists(items.bytes(), Arrays.copyOf(lengths, lists));
    }
}
