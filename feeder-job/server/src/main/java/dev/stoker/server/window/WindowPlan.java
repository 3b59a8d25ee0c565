package dev.stoker.server.window;

import dev.stoker.schemas.order.EpochOrder;
import dev.stoker.schemas.order.LaneEpoch;
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
        List<Step> found = new ArrayList<>();
        for (int lane = 0; lane < order.order().lanes(); lane++) {
            if (lanes.test(lane)) {
                addSteps(of, lane, number, found);
            }
        }
        found.sort(Comparator.comparingLong(Step::need));
        return found.iterator();
    }

    /** Adds the windows of a lane that a batch from this number on needs. */
    private void addSteps(EpochOrder of, int lane, long number, List<Step> found) {
        LaneEpoch laneEpoch = of.lane(lane);
        int batchSize = order.spec().batchSize();
        for (int window = 0; window < laneEpoch.windows(); window++) {
            long first = laneEpoch.windowFirstRow(window);
            long last = first + laneEpoch.windowRows(window) - 1;
            if (last < first) {
                continue;
            }
            long need = of.numbering().batchOf(lane, first);
            if (need < number && of.numbering().batchOf(lane, last) < number) {
                continue;
            }
            // In the present window of a lane: the first of its batches that is not over.
            long low = first / batchSize;
            long high = last / batchSize;
            while (need < number && low < high) {
                long middle = (low + high) >>> 1;
                if (of.numbering().batchOf(lane, Math.max(first, middle * batchSize)) >= number) {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            if (need < number) {
                need = of.numbering().batchOf(lane, Math.max(first, low * batchSize));
            }
            // The rest of a lane can be in two batches, of which the first is over.
            found.add(new Step(Math.max(need, number), new Windows.Key(order, epoch, lane, window)));
        }
    }
}
