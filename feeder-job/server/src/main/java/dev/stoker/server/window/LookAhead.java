package dev.stoker.server.window;

import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.server.chunks.ChunkSource;
import dev.stoker.server.chunks.ListedChunk;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Determines for one session which chunks it will need, and in which order, so that chunks of a remote origin are
 * loaded in advance. It wants the windows of the session and, within a limit of bytes, the next windows. In lanes of
 * other feeders it wants no more bytes ahead than the session has finished, because the trainer may return to the other
 * feeder at any moment, which would load the same chunks again. Owned by the session's sender thread.
 */
final class LookAhead implements AutoCloseable {
    private final GroupOrder order;
    private final Windows windows;
    private final OptionalLong epochs;
    private final ChunkSource source;
    /** The wanted windows, by lane. The first one is the present window of the session. */
    private final List<Deque<Windows.Key>> wanted = new ArrayList<>();

    /** Wanted windows that the session has left. A piece that is not closed yet may hold their chunks. */
    private final Deque<Windows.Key> left = new ArrayDeque<>();

    /** The next windows of other feeders' lanes, in order of need, which are not wanted yet. */
    private final Deque<Windows.Key> heldBack = new ArrayDeque<>();

    /** Accepts the lanes of this feeder. */
    private IntPredicate own = lane -> true;
    /** Bytes of all windows that are wanted or held back. */
    private long aheadBytes;
    /** Bytes of the wanted windows of other feeders' lanes, and of those that the session has entered. */
    private long foreignBytes;

    private long foreignEntered;
    private @Nullable WindowPlan plan;
    private Windows.@Nullable Key pending;

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

    /** Returns whether chunks are loaded ahead, in the order in which they are needed. */
    boolean isUseful() {
        return source.lookAheadBytes() > 0;
    }

    /**
     * Continues the session at this batch of this epoch, with these lanes.
     *
     * @param own accepts the lanes that this feeder serves
     */
    void follow(long epoch, long number, IntPredicate lanes, IntPredicate own) {
        if (isUseful() && number < order.order().size().batches()) {
            forget();
            this.own = own;
            plan = new WindowPlan(order, epochs, lanes, epoch, number);
            pending = null;
            // Chunks that are still needed are wanted again before their earlier wants are reverted.
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

    /** Notes that the session enters a window. */
    void enter(Windows.Key key) {
        if (!isUseful()) {
            return;
        }
        Deque<Windows.Key> lane = wanted.get(key.lane());
        while (!lane.isEmpty() && !lane.peek().equals(key)) {
            left.add(lane.poll());
        }
        if (lane.isEmpty()) {
            aheadBytes += bytes(key);
            want(key);
        }
        // Replaces the want.
        forEach(key, source::use);
        forEach(key, source::unwant);
        if (!own.test(key.lane())) {
            foreignEntered += bytes(key);
        }
        extend();
    }

    /** Notes that all pieces are closed, so that no chunk of a window that the session has left is held. */
    void closed() {
        if (!left.isEmpty()) {
            forget();
            extend();
        }
    }

    private void forget() {
        left.forEach(this::unwant);
        left.clear();
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

    /** Returns whether a window of another feeder's lane may be loaded now. */
    private boolean mayWant(Windows.Key key) {
        return foreignBytes == 0 || foreignBytes + bytes(key) <= foreignEntered;
    }

    /** Returns whether the session has already entered or passed this window. */
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

    private void forEach(Windows.Key key, Consumer<ListedChunk> action) {
        StreamChunks chunks = order.order().chunks();
        for (int chunk : order.epoch(key.epoch()).lane(key.lane()).windowChunks(key.window())) {
            if (chunks.liveRows(chunk) > 0) {
                order.stream().files(chunk).forEach(action);
            }
        }
    }

    @Override
    public void close() {
        forget();
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
