package dev.stoker.client;

import dev.stoker.client.errors.BatchTimeoutException;
import dev.stoker.client.errors.FeedException;
import dev.stoker.client.source.ReceivedPiece;
import dev.stoker.client.source.Share;
import dev.stoker.client.source.Span;
import dev.stoker.schemas.order.delivery.Position;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Welcome;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.OptionalLong;

/**
 * One pass over an epoch, or over the rest or a part of it. A batch counts as consumed, and the client acknowledges it
 * to the feeder, when the trainer asks for the next one. Can be iterated once.
 */
@SuppressWarnings("IterableAndIterator") // An epoch is read once, in either way.
public final class Iteration implements Iterable<Batch>, Iterator<Batch> {
    private final FeedClient feed;
    private final Span span;
    /** The index in the span of the first batch. */
    private final long begin;

    private final Share share;
    /** The description of the stream; for a feed that follows its dataset, in this epoch. */
    private final Welcome welcome;

    private long taken;
    /** The pieces of the present step that have arrived. */
    private List<List<ReceivedPiece>> arrived = new ArrayList<>();
    /** Whether a step failed after it was begun and before it was handed out. */
    private boolean hasFailed;
    /** The pieces of the last step, by batch number. */
    private List<List<ReceivedPiece>> unacknowledged = List.of();

    private boolean hasEnded;

    Iteration(FeedClient feed, Span span, long begin, Share share) {
        this.feed = feed;
        this.span = span;
        this.begin = begin;
        this.share = share;
        this.welcome = feed.welcome();
    }

    /** The number of the epoch, from 0. */
    public long number() {
        return span.range().epoch();
    }

    /** Batches of this epoch that this reader takes. */
    public long steps() {
        return share.steps();
    }

    @Override
    public Iterator<Batch> iterator() {
        return this;
    }

    /**
     * Whether another batch follows. The call acknowledges the batch before.
     *
     * @throws FeedException if the last batch failed and another iteration has begun since
     */
    @Override
    public boolean hasNext() {
        acknowledge();
        if (hasEnded && hasFailed) {
            throw span.isNoLongerRead();
        }
        return !hasEnded && taken < steps();
    }

    /**
     * Waits for the next batch and returns it. After an exception the next call waits for the same batch.
     *
     * @throws BatchTimeoutException if the batch does not arrive in time
     * @throws FeedException if the feed cannot continue for another reason
     */
    @Override
    public Batch next() {
        if (!hasNext()) {
            throw new NoSuchElementException("epoch " + number() + " has no more batches here");
        }
        hasFailed = true;
        long end = Math.min(span.range().count(), index(taken + 1));
        for (long index = index(taken) + arrived.size(); index < end; index++) {
            arrived.add(feed.take(span, index));
        }
        Position after = share.after(number(), taken);
        Batch batch =
                new Batch(welcome, feed.view(), joined(arrived), new Batch.Resume(after, feed.skip()), feed.buffers());
        unacknowledged = arrived;
        arrived = new ArrayList<>();
        taken++;
        hasFailed = false;
        feed.handedOut(batch, after);
        return batch;
    }

    /** The index in the span of a step's first number. */
    private long index(long step) {
        return begin + step * share.concat();
    }

    /** The pieces of a step. If there are too few parts to fill it, the first parts are repeated. */
    private List<ReceivedPiece> joined(List<List<ReceivedPiece>> parts) {
        List<ReceivedPiece> pieces = new ArrayList<>();
        parts.forEach(pieces::addAll);
        if (share.tail() == TailPolicy.PAD) {
            for (int missing = 0; missing < share.concat() - parts.size(); missing++) {
                parts.get(missing % parts.size()).forEach(piece -> pieces.add(piece.again()));
            }
        }
        return pieces;
    }

    /** The position after the last batch that was handed out. */
    Position position() {
        return taken == 0 ? new Position(number(), share.start()) : share.after(number(), taken - 1);
    }

    /** Whether a batch failed and must still be handed out. */
    boolean isToGoOn() {
        return hasFailed && !hasEnded;
    }

    boolean isRunning() {
        return !hasEnded && taken < steps();
    }

    /**
     * The index in its span at which a range begins, if the range is exactly the rest of the span. Reading then
     * continues without another request.
     */
    OptionalLong indexOf(Span.Range range) {
        long at = index(taken);
        Span.Range mine = span.range();
        boolean isRest = mine.epoch() == range.epoch()
                && mine.stride() == range.stride()
                && mine.tail() == range.tail()
                && mine.skipped().equals(range.skipped())
                && span.number(at) == range.first()
                && mine.count() - at == range.count();
        return isRest && taken > 0 ? OptionalLong.of(at) : OptionalLong.empty();
    }

    Welcome welcome() {
        return welcome;
    }

    Span span() {
        return span;
    }

    private void acknowledge() {
        for (int part = 0; part < unacknowledged.size(); part++) {
            feed.acknowledge(span, index(taken - 1) + part, unacknowledged.get(part));
        }
        unacknowledged = List.of();
    }

    /** Ends the iteration: everything that was handed out counts as consumed. */
    void end() {
        acknowledge();
        hasEnded = true;
    }
}
