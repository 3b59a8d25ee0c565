package dev.stoker.server.window;

import dev.stoker.schemas.order.EpochOrder;
import dev.stoker.schemas.order.LaneEpoch;
import java.io.IOException;
import java.util.OptionalLong;
import java.util.function.IntPredicate;

/**
 * The position of one session in each lane. It keeps the present window and, from the middle of that window on, the
 * next one. Owned by the session's sender thread.
 */
final class WindowCursor implements AutoCloseable {
    private final GroupOrder order;
    private final Windows windows;
    private final OptionalLong epochs;
    private final Windows.Key[] current;
    private final Windows.Key[] next;
    /** Whether the next window of the lane was opened ahead, or will not be. */
    private final boolean[] opening;

    private final LookAhead lookAhead;

    /** @param epochs number of epochs of the feed, so that later ones are not opened ahead */
    WindowCursor(GroupOrder order, Windows windows, OptionalLong epochs) {
        this.order = order;
        this.windows = windows;
        this.epochs = epochs;
        this.current = new Windows.Key[order.order().lanes()];
        this.next = new Windows.Key[current.length];
        this.opening = new boolean[current.length];
        this.lookAhead = new LookAhead(order, windows, epochs);
    }

    /**
     * Continues the session at this batch of this epoch, with these lanes. {@code own} accepts the lanes of this
     * feeder, whose chunks may be loaded in advance.
     */
    void follow(long epoch, long number, IntPredicate lanes, IntPredicate own) {
        lookAhead.follow(epoch, number, lanes, own);
    }

    /** Notes that all pieces that were built before are closed. */
    void closed() {
        lookAhead.closed();
    }

    /**
     * Opens the window that contains a row of a piece.
     *
     * @param upTo the place in the window up to which rows are wanted
     */
    OpenWindow at(EpochOrder epoch, int lane, int window, int upTo) throws IOException {
        Windows.Key key = current[lane];
        if (key == null || key.window() != window || key.epoch() != epoch.epoch()) {
            key = enter(new Windows.Key(order, epoch.epoch(), lane, window));
        }
        LaneEpoch laneEpoch = epoch.lane(lane);
        if (next[lane] == null && upTo * 2L >= laneEpoch.windowRows(window)) {
            keepNext(laneEpoch, lane, window);
        }
        if (next[lane] != null && !opening[lane]) {
            openNext(lane);
        }
        return windows.get(key);
    }

    private Windows.Key enter(Windows.Key key) {
        int lane = key.lane();
        windows.keep(key);
        leave(lane);
        current[lane] = key;
        lookAhead.enter(key);
        return key;
    }

    private void keepNext(LaneEpoch laneEpoch, int lane, int window) {
        Windows.Key ahead;
        if (window + 1 < laneEpoch.windows()) {
            ahead = new Windows.Key(order, laneEpoch.epoch(), lane, window + 1);
        } else if (epochs.isEmpty() || laneEpoch.epoch() + 1 < epochs.getAsLong()) {
            ahead = new Windows.Key(order, laneEpoch.epoch() + 1, lane, 0);
        } else {
            return;
        }
        windows.keep(ahead);
        next[lane] = ahead;
        opening[lane] = false;
    }

    /**
     * Opens the next window of a lane. If its chunks are being loaded in order of need, this waits until they are here:
     * a request for them would overtake chunks of other lanes that are needed before them, and take their memory.
     */
    private void openNext(int lane) {
        Windows.Key ahead = next[lane];
        if (!lookAhead.isUseful() || WindowOpener.isNear(ahead)) {
            opening[lane] = true;
            windows.openAhead(ahead);
        }
    }

    private void leave(int lane) {
        if (current[lane] != null) {
            windows.release(current[lane]);
            current[lane] = null;
        }
        if (next[lane] != null) {
            windows.release(next[lane]);
            next[lane] = null;
        }
    }

    @Override
    public void close() {
        lookAhead.close();
        for (int lane = 0; lane < current.length; lane++) {
            leave(lane);
        }
    }
}
