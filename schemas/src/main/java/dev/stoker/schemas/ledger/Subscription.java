package dev.stoker.schemas.ledger;

import dev.stoker.schemas.order.delivery.SkipList;
import java.util.Objects;

/**
 * Records that a consumer was assigned {@code count} virtual numbers of an epoch: {@code first}, and from there every
 * {@code stride}-th that it does not leave out.
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
 * @param skip the batches of the epoch that the consumer leaves out, see {@link SkipList#text}
 * @param begin the number at which the consumer began the epoch, or resumed it; at most {@code first}. {@link #NONE} if
 *     it came from the epoch before, or if that is not known
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
        String view,
        String skip,
        long begin)
        implements LedgerRecord {

    /** The {@code begin} of a consumer that came from the epoch before. */
    public static final long NONE = -1;

    /** A subscription of a consumer that leaves out no batch, and came from the epoch before. */
    public Subscription(
            long atMs,
            Consumer consumer,
            long epoch,
            long first,
            long stride,
            long count,
            String tail,
            Source source,
            String view) {
        this(atMs, consumer, epoch, first, stride, count, tail, source, view, SkipList.NONE.text(epoch), NONE);
    }

    public Subscription {
        Objects.requireNonNull(consumer, "consumer");
        Objects.requireNonNull(source, "source");
        Objects.requireNonNull(view, "view");
        if (epoch < 0 || first < 0 || stride < 1 || count < 0) {
            throw new IllegalArgumentException(
                    "Subscription to epoch " + epoch + " from " + first + " by " + stride + ", " + count + " numbers");
        }
        if (begin < NONE || begin > first) {
            throw new IllegalArgumentException("Subscription from " + first + " of a consumer that began at " + begin);
        }
        SkipList.parse(epoch, skip);
        if (!tail.equals("pad") && !tail.equals("drop") && !tail.equals("keep")) {
            throw new IllegalArgumentException("Unknown tail '" + tail + "'");
        }
    }
}
