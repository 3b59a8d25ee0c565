package dev.stoker.schemas.ledger;

import java.util.Objects;

/**
 * Records that a consumer was assigned the virtual numbers {@code first + i·stride}, {@code i < count}, of an epoch.
 *
 * @param atMs time, in milliseconds since 1970
 * @param consumer the consumer
 * @param epoch the epoch, from 0
 * @param first virtual number
 * @param stride world size times workers
 * @param count number of virtual numbers
 * @param tail {@code pad}, {@code drop} or {@code keep}
 * @param source the data that the numbers refer to
 * @param view the requested columns, see {@link dev.stoker.schemas.batch.View#text}
 */
public record Subscription(
        long atMs,
        Consumer consumer,
        long epoch,
        long first,
        long stride,
        long count,
        String tail,
        Source source,
        String view)
        implements LedgerRecord {
    public Subscription {
        Objects.requireNonNull(consumer, "consumer");
        Objects.requireNonNull(source, "source");
        Objects.requireNonNull(view, "view");
        if (epoch < 0 || first < 0 || stride < 1 || count < 0) {
            throw new IllegalArgumentException(
                    "Subscription to epoch " + epoch + " from " + first + " by " + stride + ", " + count + " numbers");
        }
        if (!tail.equals("pad") && !tail.equals("drop") && !tail.equals("keep")) {
            throw new IllegalArgumentException("Unknown tail '" + tail + "'");
        }
    }
}
