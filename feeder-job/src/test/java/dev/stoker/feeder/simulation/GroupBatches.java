package dev.stoker.feeder.simulation;

import dev.stoker.schemas.order.EpochSize;
import dev.stoker.schemas.order.delivery.SkipList;
import dev.stoker.schemas.order.delivery.SkippedBatches;
import dev.stoker.schemas.order.delivery.TailPolicy;
import java.util.ArrayList;
import java.util.List;

/**
 * The batches that a group reads in each epoch.
 *
 * @param size the batches of an epoch
 * @param tail how an epoch ends
 * @param skip the batches that the group leaves out: the same numbers of all epochs
 */
record GroupBatches(EpochSize size, TailPolicy tail, SkipList skip) {
    /** The most batches of an epoch that a group leaves out. */
    static final int MOST_SKIPPED = 4;

    /** Draws the batches that a group leaves out, if it does so. */
    static GroupBatches of(GroupShape shape, EpochSize size, Cluster cluster) {
        return new GroupBatches(size, shape.tail(), shape.skipsBatches() ? someBatches(size, cluster) : SkipList.NONE);
    }

    private static SkipList someBatches(EpochSize size, Cluster cluster) {
        Simulation simulation = cluster.simulation();
        long last = Math.max(0, size.batches() - 1);
        long first = simulation.between(0, last);
        long end = Math.min(last, first + simulation.between(0, MOST_SKIPPED - 1));
        List<SkipList.Range> ranges = new ArrayList<>();
        for (long epoch = 0; epoch < cluster.epochs(); epoch++) {
            ranges.add(new SkipList.Range(epoch, first, end));
        }
        return new SkipList(ranges);
    }

    SkippedBatches skipped(long epoch) {
        return skip.in(epoch, size);
    }

    /**
     * Returns the length of each epoch in slots, as if each batch had one sample. The positions of trainers are slots,
     * and a group skips the same numbers of all epochs.
     */
    EpochSize slots() {
        SkippedBatches skipped = skipped(0);
        return new EpochSize(tail == TailPolicy.DROP ? skipped.wholeBatches(size) : skipped.left(), 1);
    }
}
