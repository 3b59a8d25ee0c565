package dev.stoker.schemas.index;

import java.io.IOException;
import java.util.Arrays;

/** Sorts hashes in memory: 8 bytes for each pair. Not thread-safe. */
public final class HashesInMemory implements HashOrder {

    private static final int INITIAL = 1024;

    private long[] pairs = new long[INITIAL];
    private int size;

    @Override
    public void add(int hash, long row) {
        if (size == pairs.length) {
            pairs = Arrays.copyOf(pairs, Math.max(size + 1, (int) Math.min(Integer.MAX_VALUE - 8, 2L * size)));
        }
        pairs[size++] = pair(hash, row);
    }

    /** Returns the number of pairs. */
    public int size() {
        return size;
    }

    /** Removes all pairs. */
    public void clear() {
        size = 0;
    }

    @Override
    public void forEach(Receiver receiver) throws IOException {
        Arrays.sort(pairs, 0, size);
        for (int i = 0; i < size; i++) {
            receiver.accept(hash(pairs[i]), row(pairs[i]));
        }
    }

    /** Returns a number whose order as a signed one is that of the unsigned hash, then of the row. */
    public static long pair(int hash, long row) {
        return (long) (hash ^ Integer.MIN_VALUE) << 32 | row;
    }

    /** Returns the hash of a pair. */
    public static int hash(long pair) {
        return (int) (pair >>> 32) ^ Integer.MIN_VALUE;
    }

    /** Returns the row of a pair. */
    public static long row(long pair) {
        return pair & 0xFFFFFFFFL;
    }
}
