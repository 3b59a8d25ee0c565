package dev.stoker.formats.parquet.page;

import java.util.ArrayList;
import java.util.List;

/**
 * Memory of row groups that were read, for those that follow. New memory for each would cost about as much time as the
 * reading: the operating system and Java clear it, and the collector has to find it again. For one thread.
 */
public final class SpareBuffers {
    private final List<byte[]> spare = new ArrayList<>();

    /** Returns a buffer of at least this length, with any content. */
    public byte[] take(int length) {
        byte[] best = null;
        for (byte[] candidate : spare) {
            if (fits(candidate, length) && (best == null || candidate.length < best.length)) {
                best = candidate;
            }
        }
        if (best == null) {
            // What does not fit one row group seldom fits another.
            spare.clear();
            return new byte[length];
        }
        remove(best);
        return best;
    }

    /** At most a fifth of a buffer is unused, so that the memory of a row group stays near what it declares. */
    private static boolean fits(byte[] candidate, int length) {
        return candidate.length >= length && candidate.length - length <= length / 4;
    }

    private void remove(byte[] taken) {
        for (int i = 0; i < spare.size(); i++) {
            if (spare.get(i) == taken) {
                spare.remove(i);
                return;
            }
        }
    }

    /** Takes back a buffer that {@link #take} returned, and that nothing refers to any more. */
    public void release(byte[] buffer) {
        spare.add(buffer);
    }
}
