package dev.stoker.server.window;

import dev.stoker.schemas.order.EpochOrder;
import dev.stoker.schemas.order.LaneEpoch;
import dev.stoker.schemas.order.Piece;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The windows of some lanes in the order in which they will be needed, from a position in an epoch on, and across
 * epochs. The plan is known in advance, because the order determines all batches. For one thread.
 */
final class WindowPlan {
    private record Step(long need, Windows.Key key) {}

    private final GroupOrder order;
    private final OptionalLong epochs;
    private final IntPredicate lanes;
    private long epoch;
    private Iterator<Step> steps;

    /**
     * @param epochs number of epochs of the feed, so that later ones are not planned
     * @param lanes accepts the lanes that are read
     * @param epoch the first epoch
     * @param number the first batch in that epoch
     */
    WindowPlan(GroupOrder order, OptionalLong epochs, IntPredicate lanes, long epoch, long number) {
        this.order = order;
        this.epochs = epochs;
        this.lanes = lanes;
        this.epoch = epoch;
        this.steps = steps(number);
    }

    /** Returns the next window with rows, or null if the feed has no further one. */
    Windows.@Nullable Key next() {
        if (!steps.hasNext() && (epochs.isEmpty() || epoch + 1 < epochs.getAsLong())) {
            epoch++;
            steps = steps(0);
        }
        return steps.hasNext() ? steps.next().key() : null;
    }

    private Iterator<Step> steps(long number) {
        EpochOrder of = order.epoch(epoch);
        long fullBatches = of.numbering().fullBatches();
        int batchSize = order.spec().batchSize();
        int count = order.order().lanes();
        boolean joint = number >= fullBatches;
        long fromRound = joint ? 0 : of.numbering().batch(number).get(0).firstRow() / batchSize;
        int[] turn = new int[count];
        int turns = 0;
        for (long m = number; m < Math.min(number + count, fullBatches); m++) {
            Piece piece = of.numbering().batch(m).get(0);
            if (turn[piece.lane()] == 0) {
                turn[piece.lane()] = ++turns;
            }
        }
        List<Step> found = new ArrayList<>();
        for (int lane = 0; lane < count; lane++) {
            if (lanes.test(lane)) {
                LaneEpoch laneEpoch = of.lane(lane);
                long fromRow = joint ? laneEpoch.rows() / batchSize * batchSize : fromRound * batchSize;
                for (int window = 0; window < laneEpoch.windows(); window++) {
                    long first = laneEpoch.windowFirstRow(window);
                    int rows = laneEpoch.windowRows(window);
                    if (rows > 0 && first + rows > fromRow) {
                        long round = Math.max(first, fromRow) / batchSize;
                        found.add(new Step(round * count + turn[lane], new Windows.Key(order, epoch, lane, window)));
                    }
                }
            }
        }
        found.sort(Comparator.comparingLong(Step::need));
        return found.iterator();
    }
}
