package dev.stoker.feeder.node.tiers;

/**
 * How a tier stands; counts are totals since the start.
 *
 * @param name what it is called: {@code memory}, {@code disk:/nvme/stoker}
 * @param usedBytes what it holds
 * @param limitBytes what it may hold
 * @param hits chunks that were needed and there
 * @param misses chunks that were needed and not there
 * @param loads chunks that were placed, or found and checked
 * @param loadNanos time of those
 * @param failures of its device
 * @param off why it takes nothing more, or empty
 * @param note what is to be known of it, or empty
 */
public record TierStatus(
        String name,
        long usedBytes,
        long limitBytes,
        long hits,
        long misses,
        long loads,
        long loadNanos,
        long failures,
        String off,
        String note) {}
