package dev.stoker.server.window;

import java.util.BitSet;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Rows of one stream that were found damaged for good, so that {@code skip} leaves them out at once. Thread-safe. */
public final class Damage {
    /** By index of the chunk. Bit sets are replaced, never changed. */
    private final Map<Integer, BitSet> rows = new ConcurrentHashMap<>();

    /** Remembers a row. */
    public void add(int chunk, int row) {
        rows.compute(chunk, (index, known) -> {
            BitSet next = known == null ? new BitSet() : (BitSet) known.clone();
            next.set(row);
            return next;
        });
    }

    boolean isEmpty() {
        return rows.isEmpty();
    }

    boolean contains(int chunk, int row) {
        BitSet known = rows.get(chunk);
        return known != null && known.get(row);
    }
}
