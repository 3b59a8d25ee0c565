package dev.stoker.server.tiers;

import dev.stoker.server.tiers.files.CacheAccess;
import dev.stoker.server.tiers.files.CacheLifetime;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * What is kept of an origin, and how it is read.
 *
 * @param tiers in the order in which they are filled; empty for what suits the origin, an empty list for none
 * @param lifetime of what disk tiers hold
 * @param access who may read what disk tiers hold
 * @param warm whether everything that fits is placed before it is asked for
 * @param originBytesPerSecond limit of what one process reads from origins; 0 for none
 * @param originConcurrency reads of origins at a time in one process
 */
public record TierOptions(
        Optional<List<TierSpec>> tiers,
        CacheLifetime lifetime,
        CacheAccess access,
        boolean warm,
        long originBytesPerSecond,
        int originConcurrency) {
    /** Enough to hide 20 ms behind 8-MiB chunks at several GB/s. */
    public static final int DEFAULT_CONCURRENCY = 16;

    public TierOptions {
        tiers = tiers.map(List::copyOf);
        Objects.requireNonNull(lifetime, "lifetime");
        Objects.requireNonNull(access, "access");
        if (originBytesPerSecond < 0) {
            throw new IllegalArgumentException("origin bandwidth " + originBytesPerSecond + " is negative");
        }
        if (originConcurrency < 1) {
            throw new IllegalArgumentException("origin concurrency " + originConcurrency + " is not positive");
        }
    }

    /** Whatever suits the origin. */
    public static TierOptions defaults() {
        return new TierOptions(Optional.empty(), CacheLifetime.FEED, CacheAccess.USER, false, 0, DEFAULT_CONCURRENCY);
    }

    /** These tiers, or none. */
    public static TierOptions of(TierSpec... tiers) {
        return defaults().with(List.of(tiers));
    }

    /** Other tiers. */
    public TierOptions with(List<TierSpec> others) {
        return new TierOptions(Optional.of(others), lifetime, access, warm, originBytesPerSecond, originConcurrency);
    }

    /** Another lifetime. */
    public TierOptions with(CacheLifetime other) {
        return new TierOptions(tiers, other, access, warm, originBytesPerSecond, originConcurrency);
    }

    /** As {@code --warm}. */
    public TierOptions warmed() {
        return new TierOptions(tiers, lifetime, access, true, originBytesPerSecond, originConcurrency);
    }

    /** Another way to read origins. */
    public TierOptions withOrigin(long bytesPerSecond, int concurrency) {
        return new TierOptions(tiers, lifetime, access, warm, bytesPerSecond, concurrency);
    }
}
