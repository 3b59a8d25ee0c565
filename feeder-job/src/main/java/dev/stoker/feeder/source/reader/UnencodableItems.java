package dev.stoker.feeder.source.reader;

import dev.stoker.server.feed.LedgerItem;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs ledger items that cannot be encoded, at most once a minute, with their number.
 *
 * <p>Owned by the mailbox thread.
 */
final class UnencodableItems {

    private static final Logger LOG = LoggerFactory.getLogger(UnencodableItems.class);
    private static final Duration PAUSE = Duration.ofMinutes(1);

    private final LongSupplier nanoTime;
    private long total;
    private long loggedNanos;

    UnencodableItems(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Whether a line was written. */
    boolean log(LedgerItem item, RuntimeException why) {
        long now = nanoTime.getAsLong();
        total++;
        if (total > 1 && now - loggedNanos < PAUSE.toNanos()) {
            return false;
        }
        loggedNanos = now;
        LOG.error(
                "Epoch {} of {}: an item cannot be written to the ledger and was dropped, and its session ended ({} so"
                        + " far; the next such line comes in a minute at the earliest). Please report this as a bug.",
                item.epoch(),
                item.identity(),
                total,
                why);
        return true;
    }
}
