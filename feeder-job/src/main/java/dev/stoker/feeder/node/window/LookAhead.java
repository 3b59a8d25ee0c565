package dev.stoker.feeder.node.window;

import dev.stoker.feeder.node.chunks.ChunkFile;
import dev.stoker.feeder.node.chunks.ChunkSource;
import dev.stoker.schemas.order.StreamChunks;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.IntPredicate;

/**
 * Says for one session which chunks it is going to need, in that order, so that those of a far origin are brought beforehand. It
 * wants the windows that the session is in and, within a limit of bytes, those that come next. Of lanes that another feeder has
 * to serve, it wants no more bytes ahead than the session has finished: who asks for them here may go there any moment, and what
 * was brought then is brought twice. Owned by the session's sender thread.
 */
final class LookAhead implements AutoCloseable {
    private final GroupOrder order;
    private final Windows windows;
    private final OptionalLong epochs;
    private final ChunkSource source;
    /** By lane, the windows that are wanted; the first is the one that the session is in. */
    private final List<Deque<Windows.Key>> wanted = new ArrayList<>();

    /** Windows of other feeders' lanes that come next, in order of need, and are not wanted yet. */
    private final Deque<Windows.Key> heldBack = new ArrayDeque<>();

    /** The lanes of this feeder. */
    private IntPredicate own = lane -> true;
    /** Of all that is wanted or held back. */
    private long aheadBytes;
    /** Of the windows of other feeders' lanes that are wanted, and of those that the session has been in. */
    private long foreignBytes;

    private long foreignEntered;
    private WindowPlan plan;
    private Windows.Key pending;

    LookAhead(GroupOrder order, Windows windows, OptionalLong epochs) {
        this.order = order;
        this.windows = windows;
        this.epochs = epochs;
        this.source = order.stream().source();
        for (int lane = 0; lane < order.order().lanes(); lane++) {
            wanted.add(new ArrayDeque<>());
        }
        if (isUseful()) {
            windows.follow(order);
        }
    }

    private boolean isUseful() {
        return source.lookAheadBytes() > 0;
    }

    /**
     * The session goes on at this batch of this epoch, with these lanes.
     *
     * @param own those of all lanes that this feeder has to serve
     */
    void follow(long epoch, long number, IntPredicate lanes, IntPredicate own) {
        if (isUseful() && number < order.order().size().batches()) {
            this.own = own;
            plan = new WindowPlan(order, epochs, lanes, epoch, number);
            pending = null;
            // What is wanted already and needed again is wanted anew before it is given back.
            List<Windows.Key> before = new ArrayList<>();
            wanted.forEach(lane -> {
                before.addAll(lane);
                lane.clear();
            });
            heldBack.clear();
            aheadBytes = 0;
            foreignBytes = 0;
            extend();
            before.forEach(key -> forEach(key, source::unwant));
        }
    }

    /** The session enters a window. */
    void enter(Windows.Key key) {
        if (!isUseful()) {
            return;
        }
        Deque<Windows.Key> lane = wanted.get(key.lane());
        while (!lane.isEmpty() && !lane.peek().equals(key)) {
            unwant(lane.poll());
        }
        if (lane.isEmpty()) {
            aheadBytes += bytes(key);
            want(key);
        }
        if (!own.test(key.lane())) {
            foreignEntered += bytes(key);
        }
        extend();
    }

    private void extend() {
        while (!heldBack.isEmpty() && (isBehind(heldBack.peek()) || mayWant(heldBack.peek()))) {
            Windows.Key key = heldBack.poll();
            if (isBehind(key)) {
                aheadBytes -= bytes(key);
            } else {
                want(key);
            }
        }
        while (plan != null) {
            if (pending == null) {
                pending = plan.next();
            }
            if (pending == null) {
                plan = null;
                return;
            }
            if (!isBehind(pending)) {
                long bytes = bytes(pending);
                if (aheadBytes > 0 && aheadBytes + bytes > source.lookAheadBytes() / Math.max(1, windows.followed())) {
                    return;
                }
                aheadBytes += bytes;
                if (own.test(pending.lane()) || (heldBack.isEmpty() && mayWant(pending))) {
                    want(pending);
                } else {
                    heldBack.add(pending);
                }
            }
            pending = null;
        }
    }

    /** Whether a window of another feeder's lane may be brought now. */
    private boolean mayWant(Windows.Key key) {
        return foreignBytes == 0 || foreignBytes + bytes(key) <= foreignEntered;
    }

    /** Whether the session is in this window already, or past it. */
    private boolean isBehind(Windows.Key key) {
        Windows.Key current = wanted.get(key.lane()).peekLast();
        return current != null
                && (current.epoch() > key.epoch()
                        || (current.epoch() == key.epoch() && current.window() >= key.window()));
    }

    private void want(Windows.Key key) {
        wanted.get(key.lane()).add(key);
        foreignBytes += own.test(key.lane()) ? 0 : bytes(key);
        forEach(key, source::want);
    }

    private void unwant(Windows.Key key) {
        long bytes = bytes(key);
        aheadBytes -= bytes;
        foreignBytes -= own.test(key.lane()) ? 0 : bytes;
        forEach(key, source::unwant);
    }

    private long bytes(Windows.Key key) {
        long[] bytes = {0};
        forEach(key, file -> bytes[0] += file.length());
        return bytes[0];
    }

    private void forEach(Windows.Key key, Consumer<ChunkFile> action) {
        StreamChunks chunks = order.order().chunks();
        for (int chunk : order.epoch(key.epoch()).lane(key.lane()).windowChunks(key.window())) {
            if (chunks.liveRows(chunk) > 0) {
                action.accept(order.stream().file(chunk));
            }
        }
    }

    @Override
    public void close() {
        wanted.forEach(lane -> {
            lane.forEach(this::unwant);
            lane.clear();
        });
        heldBack.clear();
        plan = null;
        if (isUseful()) {
            windows.unfollow(order);
        }
    }
}
