package dev.stoker.client;

import dev.stoker.schemas.order.delivery.SkipList;
import dev.stoker.schemas.order.delivery.TailPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/** Collects the settings of the batches that an epoch has, see {@link FeedClientBuilder#steps}. */
public final class StepOptions {
    private TailPolicy tail = TailPolicy.PAD;
    private final List<SkipList.Range> skip = new ArrayList<>();
    private OptionalInt epochBatches = OptionalInt.empty();
    private int concat = 1;

    StepOptions() {}

    /** Sets how an epoch ends; {@code PAD} by default. */
    public StepOptions tail(TailPolicy policy) {
        tail = policy;
        return this;
    }

    /**
     * Leaves out batches of an epoch by {@link Batch#number}, from the first to the last, both included. The ranks
     * divide the batches that are left. Can be called several times. All trainers of a group must leave out the same
     * batches.
     *
     * @throws IllegalArgumentException if this is no range
     */
    public StepOptions skip(long epoch, long first, long last) {
        skip.add(new SkipList.Range(epoch, first, last));
        return this;
    }

    /** Ends each {@link FeedClient#epoch} after this number of batches. The next one continues from there. */
    public StepOptions epochBatches(int count) {
        epochBatches = OptionalInt.of(count);
        return this;
    }

    /** Joins this number of batches into one, so that W ranks can take the steps of a multiple of W. */
    public StepOptions concat(int batches) {
        concat = batches;
        return this;
    }

    TailPolicy tail() {
        return tail;
    }

    OptionalInt epochBatches() {
        return epochBatches;
    }

    int concat() {
        return concat;
    }

    /** Returns the batches that are left out, or none and a problem more. */
    SkipList skipped(List<String> problems) {
        try {
            return SkipList.of(skip);
        } catch (IllegalArgumentException e) {
            problems.add(e.getMessage());
            return SkipList.NONE;
        }
    }
}
