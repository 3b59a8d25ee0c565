package dev.stoker.schemas.order;

/**
 * Computes step 1 of the order function: in ascending ordinal, each chunk goes to the lane with the fewest rows at
 * commit so far, ties to the lowest lane.
 *
 * <p>While all chunks have the same number of rows, the lanes take turns. From the first different chunk on, the lanes
 * are in a binary heap of (rows, lane), packed into one long.
 */
final class LaneAssignment {
    private static final int LANE_BITS = 16;
    private static final long MAX_LANE_ROWS = (1L << (63 - LANE_BITS)) - 1;

    private LaneAssignment() {}

    /** Lanes of a stream: no more than it ever had chunks, and one for the stored order. */
    static int lanes(OrderSpec spec, StreamChunks chunks) {
        return spec.shuffle() == ShufflePolicy.NONE ? 1 : windowDivisor(spec, chunks);
    }

    /** The number that divides the shuffle window: the lanes that a shuffled stream has. */
    static int windowDivisor(OrderSpec spec, StreamChunks chunks) {
        return Math.min(spec.lanes(), Math.max(1, chunks.size()));
    }

    /** Returns the lane of each chunk, ghosts included. */
    static char[] assign(int lanes, StreamChunks chunks) {
        int n = chunks.size();
        char[] laneOf = new char[n];
        int equal = 0;
        while (equal < n && chunks.rows(equal) == chunks.rows(0) && chunks.rows(equal) > 0) {
            laneOf[equal] = (char) (equal % lanes);
            equal++;
        }
        if (equal == n) {
            return laneOf;
        }
        long[] heap = new long[lanes];
        for (int lane = 0; lane < lanes; lane++) {
            long chunksOfLane = (long) equal / lanes + (lane < equal % lanes ? 1 : 0);
            long rows = chunksOfLane * (equal == 0 ? 0 : chunks.rows(0));
            heap[lane] = pack(rows, lane);
        }
        for (int i = lanes / 2 - 1; i >= 0; i--) {
            sink(heap, i);
        }
        for (int i = equal; i < n; i++) {
            int lane = (int) heap[0] & ((1 << LANE_BITS) - 1);
            laneOf[i] = (char) lane;
            heap[0] = pack((heap[0] >>> LANE_BITS) + chunks.rows(i), lane);
            sink(heap, 0);
        }
        return laneOf;
    }

    private static long pack(long rows, int lane) {
        if (rows > MAX_LANE_ROWS) {
            throw new IllegalArgumentException("lane " + lane + " has more than " + MAX_LANE_ROWS
                    + " rows, removed chunks included: choose more lanes");
        }
        return rows << LANE_BITS | lane;
    }

    private static void sink(long[] heap, int from) {
        long value = heap[from];
        int at = from;
        while (true) {
            int child = 2 * at + 1;
            if (child >= heap.length) {
                break;
            }
            if (child + 1 < heap.length && heap[child + 1] < heap[child]) {
                child++;
            }
            if (heap[child] >= value) {
                break;
            }
            heap[at] = heap[child];
            at = child;
        }
        heap[at] = value;
    }
}
