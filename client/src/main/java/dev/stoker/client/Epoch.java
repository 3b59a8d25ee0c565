package dev.stoker.client;

import dev.stoker.schemas.order.Position;
import dev.stoker.schemas.order.TailPolicy;
import dev.stoker.schemas.protocol.Welcome;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.OptionalLong;

/**
 * One pass over an epoch, or over the rest or a part of it. A batch counts as consumed, and is acknowledged to the feeder, when the
 * next one is asked for. Iterates once.
 */
public final class Epoch implements Iterable<Batch>, Iterator<Batch> {
    private final FeedClient feed;
    private final Span span;
    /** The span's index of the first batch. */
    private final long begin;

    private final Share share;
    /** What is read: of a feed that follows its dataset, in this epoch. */
    private final Welcome welcome;

    private long taken;
    /** Of the step that is being taken, what has come. */
    private List<List<Piece>> arrived = new ArrayList<>();
    /** Whether a step was begun and not handed out, since it failed. */
    private boolean hasFailed;
    /** Of each number of the last step, its pieces. */
    private List<List<Piece>> unacknowledged = List.of();

    private boolean hasEnded;

    Epoch(FeedClient feed, Span span, long begin, Share share) {
        this.feed = feed;
        this.span = span;
        this.begin = begin;
        this.share = share;
        this.welcome = feed.welcome();
    }

    /** Which one, from 0. */
    public long number() {
        return span.range().epoch();
    }

    /** Batches that this reader takes in it. */
    public long steps() {
        return share.steps();
    }

    @Override
    public Iterator<Batch> iterator() {
        return this;
    }

    /**
     * Whether another batch follows. Asking says that the one before is consumed.
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
     * The next batch; waits for it. After an exception the next call waits for the same batch.
     *
     * @throws BatchTimeoutException if it does not come
     * @throws FeedException if the feed cannot go on for another reason
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
        Batch batch = new Batch(welcome, joined(arrived), after, feed.buffers());
        unacknowledged = arrived;
        arrived = new ArrayList<>();
        taken++;
        hasFailed = false;
        feed.handedOut(batch, after);
        return batch;
    }

    /** The span's index of a step's first number. */
    private long index(long step) {
        return begin + step * share.concat();
    }

    /** The pieces of a step; the first parts once more, as repeated, where there are too few to fill it. */
    private List<Piece> joined(List<List<Piece>> parts) {
        List<Piece> pieces = new ArrayList<>();
        parts.forEach(pieces::addAll);
        if (share.tail() == TailPolicy.PAD) {
            for (int missing = 0; missing < share.concat() - parts.size(); missing++) {
                parts.get(missing % parts.size()).forEach(piece -> pieces.add(piece.again()));
            }
        }
        return pieces;
    }

    /** After the last batch that was handed out. */
    Position position() {
        return taken == 0 ? new Position(number(), share.start()) : share.after(number(), taken - 1);
    }

    /** Whether a batch failed that is still to be handed out. */
    boolean isToGoOn() {
        return hasFailed && !hasEnded;
    }

    boolean isRunning() {
        return !hasEnded && taken < steps();
    }

    /** Where in its span a range begins that is all that is left of it, if it is that: it is read on without asking anew. */
    OptionalLong indexOf(Span.Range range) {
        long at = index(taken);
        Span.Range mine = span.range();
        boolean isRest = mine.epoch() == range.epoch()
                && mine.stride() == range.stride()
                && mine.tail() == range.tail()
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

    /** The trainer is done with it: what it was given is consumed. */
    void end() {
        acknowledge();
        hasEnded = true;
    }
}
