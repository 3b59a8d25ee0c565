package dev.stoker.schemas.order;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Determines the rows and lanes of batch m of an epoch; steps 5 and 6 of the order function.
 *
 * <p>Needs only the lanes' live row counts. A trainer that received them in WELCOME therefore knows every batch's
 * pieces without the chunk table. Finds the round of a number by bisection, without enumerating earlier rounds.
 * Thread-safe. Immutable except for the lane order of the last round, which is cached because adjacent numbers use the
 * same one.
 */
public final class EpochNumbering {
    private final OrderSpec spec;
    private final long epoch;
    private final EpochSize size;
    /** Full batches of each lane. */
    private final long[] full;
    /** The same, ascending, and the sums of the first i of them. */
    private final long[] ascending;

    private final long[] ascendingSums;
    /** Remaining rows of the lanes before lane l. */
    private final long[] restBefore;

    private final long fullBatches;
    private volatile @Nullable Round lastRound;

    private record Round(long index, int[] lanes) {}

    /**
     * @param laneRows live rows of each lane
     * @param epoch 0 …
     */
    public EpochNumbering(OrderSpec spec, long[] laneRows, long epoch) {
        if (epoch < 0) {
            throw new IllegalArgumentException("epoch " + epoch + ": epochs count from 0");
        }
        this.spec = spec;
        this.epoch = epoch;
        int lanes = laneRows.length;
        this.full = new long[lanes];
        this.restBefore = new long[lanes + 1];
        long samples = 0;
        for (int l = 0; l < lanes; l++) {
            if (laneRows[l] < 0) {
                throw new IllegalArgumentException("lane " + l + " has " + laneRows[l] + " rows");
            }
            full[l] = laneRows[l] / spec.batchSize();
            restBefore[l + 1] = restBefore[l] + laneRows[l] % spec.batchSize();
            samples = Math.addExact(samples, laneRows[l]);
        }
        this.size = new EpochSize(samples, spec.batchSize());
        this.ascending = full.clone();
        Arrays.sort(ascending);
        this.ascendingSums = new long[lanes + 1];
        for (int i = 0; i < lanes; i++) {
            ascendingSums[i + 1] = ascendingSums[i] + ascending[i];
        }
        this.fullBatches = ascendingSums[lanes];
    }

    /** Returns the epoch's lengths. */
    public EpochSize size() {
        return size;
    }

    /** Returns the number of lanes of the stream, including empty ones. */
    public int lanes() {
        return full.length;
    }

    /** Returns the number of batches that come from one lane each. The joint batches follow them. */
    public long fullBatches() {
        return fullBatches;
    }

    /** Returns the number of batches in rounds to which every lane contributes. These rounds come first. */
    public long evenBatches() {
        return ascending[0] * full.length;
    }

    /**
     * Returns the pieces of a batch, in the order of their rows.
     *
     * @throws IllegalArgumentException if the epoch has no batch of this number
     */
    public List<Piece> batch(long number) {
        if (number < 0 || number >= size.batches()) {
            throw new IllegalArgumentException("batch " + number + " of an epoch of " + size.batches());
        }
        return number < fullBatches ? List.of(fullBatch(number)) : jointBatch(number - fullBatches);
    }

    /**
     * Returns the batch that has a row of a lane; the inverse of {@link #batch}.
     *
     * @param row index in the lane's epoch
     */
    public long batchOf(int lane, long row) {
        long rest = row - full[lane] * spec.batchSize();
        return rest < 0
                ? fullBatch(lane, row / spec.batchSize())
                : fullBatches + (restBefore[lane] + rest) / spec.batchSize();
    }

    /**
     * Returns the index that a row of a lane has in its batch.
     *
     * @param number of the batch
     * @param row index in the lane's epoch
     */
    public int indexIn(long number, int lane, long row) {
        int before = 0;
        for (Piece piece : batch(number)) {
            if (piece.lane() == lane && row >= piece.firstRow() && row < piece.firstRow() + piece.rows()) {
                return before + (int) (row - piece.firstRow());
            }
            before += piece.rows();
        }
        throw new IllegalArgumentException("row " + row + " of lane " + lane + " is not in batch " + number);
    }

    /** Returns the number of full batches of a lane. */
    long fullBatches(int lane) {
        return full[lane];
    }

    /** Returns the number of a lane's full batch of a round. */
    long fullBatch(int lane, long round) {
        int[] lanes = lanesOf(round);
        for (int i = 0; i < lanes.length; i++) {
            if (lanes[i] == lane) {
                return before(round) + i;
            }
        }
        throw new IllegalArgumentException("lane " + lane + " has no full batch in round " + round);
    }

    /** Returns the number of joint batches with rows of a lane. They are consecutive. */
    long jointBatches(int lane) {
        return restBefore[lane + 1] == restBefore[lane]
                ? 0
                : (restBefore[lane + 1] - 1) / spec.batchSize() - restBefore[lane] / spec.batchSize() + 1;
    }

    /** Returns the first joint batch with rows of a lane. */
    long firstJointBatch(int lane) {
        return fullBatches + restBefore[lane] / spec.batchSize();
    }

    private Piece fullBatch(long number) {
        long round = roundOf(number);
        int lane = lanesOf(round)[(int) (number - before(round))];
        return new Piece(lane, round * spec.batchSize(), spec.batchSize());
    }

    private List<Piece> jointBatch(long index) {
        long from = index * spec.batchSize();
        long to = Math.min(from + spec.batchSize(), restBefore[full.length]);
        int lane = Arrays.binarySearch(restBefore, from);
        // A lane without remaining rows shares its neighbour's position; the loop below skips it.
        lane = lane < 0 ? -lane - 2 : lane;
        List<Piece> pieces = new ArrayList<>();
        for (long at = from; at < to; lane++) {
            long end = Math.min(to, restBefore[lane + 1]);
            if (end > at) {
                long firstRow = full[lane] * spec.batchSize() + (at - restBefore[lane]);
                pieces.add(new Piece(lane, firstRow, (int) (end - at)));
                at = end;
            }
        }
        return pieces;
    }

    /** Returns C(k), the number of batches before round k. */
    private long before(long round) {
        int ended = firstGreater(round);
        return ascendingSums[ended] + (ascending.length - ended) * round;
    }

    /** Returns the number of lanes with at most {@code round} full batches. */
    private int firstGreater(long round) {
        int low = 0;
        int high = ascending.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (ascending[middle] > round) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    /** Returns the last round that at most {@code number} batches precede. */
    private long roundOf(long number) {
        long low = 0;
        long high = ascending[ascending.length - 1];
        while (high - low > 1) {
            long middle = (low + high) >>> 1;
            if (before(middle) <= number) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return low;
    }

    private int[] lanesOf(long round) {
        Round cached = lastRound;
        if (cached != null && cached.index == round) {
            return cached.lanes;
        }
        int[] lanes = new int[full.length - firstGreater(round)];
        int n = 0;
        for (int l = 0; l < full.length; l++) {
            if (full[l] > round) {
                lanes[n++] = l;
            }
        }
        if (spec.laneOrder() == LaneOrder.MIXED) {
            long prefix = OrderHash.key(spec.seed(), OrderHash.ROUNDS, epoch, round);
            long[] keys = new long[n];
            for (int i = 0; i < n; i++) {
                keys[i] = OrderHash.fold(prefix, lanes[i]);
            }
            int[] order = KeySort.order(keys);
            for (int i = 0; i < n; i++) {
                order[i] = lanes[order[i]];
            }
            lanes = order;
        }
        lastRound = new Round(round, lanes);
        return lanes;
    }
}
