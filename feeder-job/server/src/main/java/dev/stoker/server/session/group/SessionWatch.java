package dev.stoker.server.session.group;

import dev.stoker.schemas.protocol.Ack;
import dev.stoker.schemas.protocol.Stats;
import dev.stoker.server.feed.FeedStatus;
import dev.stoker.server.feed.Identity;
import dev.stoker.server.feed.Used;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Statistics of one seat of a group in one run, over all its connections to this server: the pieces sent, the time of
 * the server's thread, its position, and the waits that it reports. Thread-safe; costs a few additions for each piece.
 */
public final class SessionWatch {
    private static final int MAX_WAITS = 16;

    private final Identity identity;
    private final String client;
    private final AtomicInteger connections = new AtomicInteger();

    public final LongAdder pieces = new LongAdder();
    public final LongAdder rows = new LongAdder();
    public final LongAdder bytes = new LongAdder();
    public final LongAdder originNanos = new LongAdder();
    public final LongAdder diskNanos = new LongAdder();
    public final LongAdder buildNanos = new LongAdder();
    public final LongAdder writeNanos = new LongAdder();

    /** The next number and its epoch; guarded by this. */
    private long epoch;

    private long next;
    /** Pieces counted of the number before {@code next}; guarded by this. */
    private int counted;
    /** Samples acknowledged; guarded by this. */
    private long usedRows;

    private boolean known;
    private volatile @Nullable Stats stats;
    /** Time in which nothing was granted that was not sent: the trainer is the slower side, or does not read. */
    private final LongAdder idleNanos = new LongAdder();
    /** When the present idleness began, 0 while there is none. */
    private final AtomicLong idleSinceNanos = new AtomicLong();

    SessionWatch(Identity identity, String client) {
        this.identity = identity;
        this.client = client;
    }

    public Identity identity() {
        return identity;
    }

    public void connected() {
        connections.incrementAndGet();
    }

    public void left() {
        connections.decrementAndGet();
    }

    /** The trainer begins to read here. */
    public synchronized void at(long newEpoch, long first) {
        // What is asked for ahead of time is no place that the trainer has reached.
        if (!known || newEpoch < epoch || (newEpoch == epoch && first < next)) {
            known = true;
            epoch = newEpoch;
            next = first;
            counted = 0;
        }
    }

    /**
     * The trainer has consumed pieces, in ascending order. A receipt that a trainer repeats after a reconnect counts
     * once.
     *
     * @return samples that were not counted before
     */
    public synchronized long consumed(Ack ack) {
        long rows = 0;
        for (int i = 0; i < ack.count(); i++) {
            if (isNew(ack.epoch(), ack.number(i), ack.piece(i))) {
                epoch = ack.epoch();
                next = ack.number(i) + 1;
                counted = ack.piece(i) + 1;
                rows += ack.rows(i);
            }
        }
        usedRows += rows;
        return rows;
    }

    private boolean isNew(long ofEpoch, long number, int piece) {
        if (ofEpoch != epoch) {
            return ofEpoch > epoch;
        }
        return number >= next || (number == next - 1 && piece >= counted && counted > 0);
    }

    /** The trainer says how it fares; of its waits the longest are kept. */
    public void told(Stats told) {
        stats = new Stats(
                told.timeUs(),
                told.waitedUs(),
                told.batches(),
                told.samples(),
                told.bytes(),
                told.causes(),
                told.waits().subList(0, Math.min(MAX_WAITS, told.waits().size())));
    }

    /** Whether the trainer wants to know what its pieces cost. */
    public boolean isTold() {
        return stats != null;
    }

    /** The sender has nothing to do from now on. */
    public void idle(long nowNanos) {
        idleSinceNanos.set(nowNanos);
    }

    /** The sender has something to do. */
    public void busy(long nowNanos) {
        idleNanos.add(nowNanos - idleSinceNanos.getAndSet(0));
    }

    private long idle() {
        long since = idleSinceNanos.get();
        return idleNanos.sum() + (since == 0 || connections.get() == 0 ? 0 : Math.max(0, System.nanoTime() - since));
    }

    public synchronized FeedStatus.Rank status() {
        return new FeedStatus.Rank(
                identity.rank(),
                identity.worker(),
                identity.workers(),
                identity.replica(),
                connections.get() > 0,
                client,
                epoch,
                next,
                pieces.sum(),
                rows.sum(),
                bytes.sum(),
                Used.of(usedRows, rows.sum(), bytes.sum()),
                new FeedStatus.Server(idle(), originNanos.sum(), diskNanos.sum(), buildNanos.sum(), writeNanos.sum()),
                Optional.ofNullable(stats));
    }
}
