package dev.stoker.feeder.topic;

import dev.stoker.schemas.order.LaneOrder;

/**
 * How many times a topic's full batches are read, by all ranks together: 1 if every rank finds its batches in
 * partitions that no other rank reads.
 */
final class ReadAmplification {
    private ReadAmplification() {}

    /** The factor for a number of lanes and ranks. */
    static int factor(int lanes, LaneOrder order, int worldSize) {
        if (lanes == 1 || order == LaneOrder.MIXED) {
            return worldSize;
        }
        return worldSize / gcd(lanes, worldSize);
    }

    private static int gcd(int a, int b) {
        return b == 0 ? a : gcd(b, a % b);
    }
}
