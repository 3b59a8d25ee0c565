package dev.stoker.schemas.arrow;

import java.nio.ByteBuffer;
import java.util.BitSet;

/** Collects the rows of a payload column that are null. Not thread-safe. Can be reused after {@link #clear}. */
public final class NullRows {
    private final BitSet rows = new BitSet();

    /** Marks a row as null. */
    public void add(int row) {
        rows.set(row);
    }

    /** Returns whether a row is null. */
    public boolean contains(int row) {
        return rows.get(row);
    }

    /** Returns the number of null rows. */
    public int count() {
        return rows.cardinality();
    }

    /** Removes all rows. */
    public void clear() {
        rows.clear();
    }

    /** Returns the validity buffer of a column of {@code count} rows. */
    ByteBuffer validity(int count) {
        BitSet valid = new BitSet(count);
        valid.set(0, count);
        valid.andNot(rows);
        byte[] bytes = new byte[(count + 7) / 8];
        byte[] bits = valid.toByteArray();
        System.arraycopy(bits, 0, bytes, 0, bits.length);
        return ByteBuffer.wrap(bytes);
    }
}
