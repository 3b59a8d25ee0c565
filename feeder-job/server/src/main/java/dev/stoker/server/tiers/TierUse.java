package dev.stoker.server.tiers;

import java.util.concurrent.atomic.LongAdder;

/** What is counted of one tier. Thread-safe. */
final class TierUse {
    /** Chunks that were needed and there. */
    final LongAdder hits = new LongAdder();
    /** Chunks that were needed and not there. */
    final LongAdder misses = new LongAdder();
    /** Chunks placed, or found and checked. */
    final LongAdder loads = new LongAdder();
    /** Time of those, in nanoseconds. */
    final LongAdder loadNanos = new LongAdder();

    final LongAdder failures = new LongAdder();
}
