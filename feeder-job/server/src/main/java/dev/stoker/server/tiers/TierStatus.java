package dev.stoker.server.tiers;

/**
 * The status of a tier. Counts are totals since the start.
 *
 * @param name the name: {@code memory}, {@code disk:/nvme/stoker}
 * @param usedBytes bytes in use
 * @param limitBytes the quota
 * @param hits number of requested chunks that were in the tier
 * @param misses number of requested chunks that were not in the tier
 * @param loads number of chunks that were placed, or found and checked
 * @param loadNanos time spent on loads
 * @param failures number of device failures
 * @param off why the tier accepts no more chunks, or empty
 * @param note a remark for the user, or empty
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
