package dev.stoker.server.session;

import dev.stoker.server.feed.LookedUp;
import java.util.concurrent.atomic.LongAdder;

/** What the server counts. Thread-safe. */
final class Counters {
    final LongAdder batches = new LongAdder();
    final LongAdder bytes = new LongAdder();
    final LongAdder rows = new LongAdder();
    /** Rows of pieces that trainers have acknowledged. */
    final LongAdder usedRows = new LongAdder();

    final LongAdder rejected = new LongAdder();
    final LongAdder nacks = new LongAdder();
    final LongAdder refetches = new LongAdder();
    final LongAdder corrupt = new LongAdder();

    final LongAdder lookups = new LongAdder();
    final LongAdder lookupKeys = new LongAdder();
    final LongAdder lookupBytes = new LongAdder();
    /** Time of all sessions that have ended, in nanoseconds. */
    final LongAdder waitedNanos = new LongAdder();

    final LongAdder subscribedNanos = new LongAdder();

    LookedUp lookedUp() {
        return new LookedUp(lookups.sum(), lookupKeys.sum(), lookupBytes.sum());
    }
}
