package dev.stoker.schemas.order;

import java.util.Arrays;

/**
 * Applies an order spec to a stream: computes the lanes and their live rows, and from these every epoch.
 *
 * <p>Creation takes one pass over the chunks (10^6 chunks: about ten milliseconds and 6 bytes for each chunk).
 * Immutable and thread-safe.
 */
public final class StreamOrder {
    private final StreamChunks chunks;
    private final OrderSpec spec;
    private final char[] laneOf;
    /** Indexes of the live chunks, lane after lane, ascending within a lane. */
    private final int[] liveByLane;

    private final int[] laneStart;
    private final long[] laneRows;
    private final EpochSize size;

    /** @throws IllegalArgumentException if the rows were not selected by the spec's condition */
    public StreamOrder(StreamChunks chunks, OrderSpec spec) {
        if (!spec.where().equals(chunks.where())) {
            throw new IllegalArgumentException(
                    "rows selected by '" + chunks.where() + "' have no order with where '" + spec.where() + "'");
        }
        this.chunks = chunks;
        this.spec = spec;
        int lanes = LaneAssignment.lanes(spec, chunks);
        this.laneOf = LaneAssignment.assign(lanes, chunks);
        this.laneRows = new long[lanes];
        this.laneStart = new int[lanes + 1];
        for (int i = 0; i < laneOf.length; i++) {
            if (chunks.isLive(i)) {
                laneRows[laneOf[i]] += chunks.liveRows(i);
                laneStart[laneOf[i] + 1]++;
            }
        }
        for (int lane = 0; lane < lanes; lane++) {
            laneStart[lane + 1] += laneStart[lane];
        }
        this.liveByLane = new int[chunks.liveChunks()];
        int[] next = laneStart.clone();
        for (int i = 0; i < laneOf.length; i++) {
            if (chunks.isLive(i)) {
                liveByLane[next[laneOf[i]]++] = i;
            }
        }
        this.size = new EpochSize(chunks.liveRows(), spec.batchSize());
    }

    /** Returns the number of lanes of a stream, whatever rows a condition selects. */
    public static int lanes(StreamChunks chunks, OrderSpec spec) {
        return LaneAssignment.lanes(spec, chunks);
    }

    public StreamChunks chunks() {
        return chunks;
    }

    public OrderSpec spec() {
        return spec;
    }

    /** Returns the number of lanes, including empty ones; at most the spec's, and 1 for the stored order. */
    public int lanes() {
        return laneRows.length;
    }

    /** Returns the lane of a chunk, by its index in {@link #chunks()}. */
    public int laneOf(int chunkIndex) {
        return laneOf[chunkIndex];
    }

    /** Returns a copy of the live rows of each lane. */
    public long[] laneRows() {
        return laneRows.clone();
    }

    /** Returns a copy of the live chunks of a lane, as ascending indexes into {@link #chunks()}. */
    public int[] laneChunks(int lane) {
        return Arrays.copyOfRange(liveByLane, laneStart[lane], laneStart[lane + 1]);
    }

    /** Returns the lengths of every epoch. */
    public EpochSize size() {
        return size;
    }

    /** Returns one epoch. This is cheap, because lanes are computed on demand. */
    public EpochOrder epoch(long epoch) {
        return new EpochOrder(this, epoch);
    }
}
