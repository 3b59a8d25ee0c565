package dev.stoker.schemas.order;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Contains a lane's chunks in the order of one epoch, divided into windows; steps 2 and 3 of the order function.
 *
 * <p>Contains no rows: {@link #window} computes the rows of one window without the windows before it. Immutable and
 * thread-safe.
 */
public final class LaneEpoch {
    private final StreamOrder stream;
    private final int lane;
    private final long epoch;
    /** Indexes into the stream's chunks, in this epoch's order. */
    private final int[] sequence;
    /** Window w is sequence[windowStart[w] … windowStart[w+1]). */
    private final int[] windowStart;
    /** Live rows of the lane before window w; one more than there are windows. */
    private final long[] rowsBefore;

    LaneEpoch(StreamOrder stream, int lane, long epoch) {
        this.stream = stream;
        this.lane = lane;
        this.epoch = epoch;
        this.sequence = sequence(stream, lane, epoch);
        StreamChunks chunks = stream.chunks();
        long target = stream.spec().shuffleWindowBytes() / LaneAssignment.windowDivisor(stream.spec(), chunks);
        int[] starts = new int[sequence.length + 1];
        long[] before = new long[sequence.length + 1];
        int windows = 0;
        long bytes = 0;
        long rows = 0;
        for (int i = 0; i < sequence.length; i++) {
            bytes += chunks.length(sequence[i]);
            rows += chunks.liveRows(sequence[i]);
            if (bytes >= target || i == sequence.length - 1) {
                windows++;
                starts[windows] = i + 1;
                before[windows] = rows;
                bytes = 0;
            }
        }
        this.windowStart = Arrays.copyOf(starts, windows + 1);
        this.rowsBefore = Arrays.copyOf(before, windows + 1);
    }

    private static int[] sequence(StreamOrder stream, int lane, long epoch) {
        int[] mine = stream.laneChunks(lane);
        if (stream.spec().shuffle() == ShufflePolicy.NONE) {
            return mine;
        }
        long prefix = OrderHash.key(stream.spec().seed(), OrderHash.CHUNKS, epoch, lane);
        long[] keys = new long[mine.length];
        for (int i = 0; i < mine.length; i++) {
            keys[i] = OrderHash.fold(prefix, stream.chunks().ordinal(mine[i]));
        }
        int[] order = KeySort.order(keys);
        for (int i = 0; i < order.length; i++) {
            order[i] = mine[order[i]];
        }
        return order;
    }

    public int lane() {
        return lane;
    }

    public long epoch() {
        return epoch;
    }

    /** Returns the number of live rows of the lane. */
    public long rows() {
        return rowsBefore[windows()];
    }

    /** Returns the number of windows of the lane. Some may contain no live row. */
    public int windows() {
        return rowsBefore.length - 1;
    }

    /** Returns the index of window {@code w}'s first row in the lane's epoch. */
    public long windowFirstRow(int w) {
        return rowsBefore[w];
    }

    /** Returns the number of live rows of window {@code w}. */
    public int windowRows(int w) {
        long rows = rowsBefore[w + 1] - rowsBefore[w];
        if (rows > Integer.MAX_VALUE - 8) {
            throw new IllegalArgumentException("window " + w + " of lane " + lane + " has " + rows
                    + " rows, more than can be shuffled at once: choose a smaller shuffle window or more lanes");
        }
        return (int) rows;
    }

    /** Returns the chunks of window {@code w} in sequence, as indexes into the stream's chunks; a copy. */
    public int[] windowChunks(int w) {
        return Arrays.copyOfRange(sequence, windowStart[w], windowStart[w + 1]);
    }

    /** Returns the lane's live chunks in this epoch's order, as indexes into the stream's chunks; a copy. */
    public int[] sequence() {
        return sequence.clone();
    }

    /** Returns the window that contains a row of the lane's epoch. */
    public int windowOfRow(long row) {
        if (row < 0 || row >= rows()) {
            throw new IllegalArgumentException("row " + row + " of lane " + lane + ", which has " + rows());
        }
        int low = 0;
        int high = windows();
        while (high - low > 1) {
            int middle = (low + high) >>> 1;
            if (rowsBefore[middle] <= row) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /**
     * Returns the window that contains a chunk of the lane.
     *
     * @param chunk index into the stream's chunks
     */
    public int windowOfChunk(int chunk) {
        for (int w = 0; w < windows(); w++) {
            for (int i = windowStart[w]; i < windowStart[w + 1]; i++) {
                if (sequence[i] == chunk) {
                    return w;
                }
            }
        }
        throw new IllegalArgumentException("chunk " + chunk + " is not in lane " + lane);
    }

    /** Computes the rows of window {@code w}, at each call, in about 30 ns for each row. */
    public Window window(int w) {
        return Window.compute(this, w);
    }

    /**
     * Returns the parts of windows that a piece covers, in order, without computing rows.
     *
     * @param firstRow a row of the lane's epoch
     * @param rows at least 1
     */
    public List<WindowSlice> slices(long firstRow, int rows) {
        if (rows < 1 || firstRow < 0 || firstRow > rows() - rows) {
            throw new IllegalArgumentException("rows [" + firstRow + ", " + firstRow + " + " + rows + ") of lane "
                    + lane + ", which has " + rows());
        }
        List<WindowSlice> slices = new ArrayList<>(2);
        long end = firstRow + rows;
        long at = firstRow;
        for (int w = windowOfRow(firstRow); at < end; w++) {
            long stop = Math.min(end, rowsBefore[w + 1]);
            if (stop > at) {
                slices.add(new WindowSlice(w, (int) (at - rowsBefore[w]), (int) (stop - rowsBefore[w])));
                at = stop;
            }
        }
        return slices;
    }

    StreamOrder stream() {
        return stream;
    }
}
