package dev.stoker.export.read;

import dev.stoker.schemas.order.EpochOrder;
import dev.stoker.schemas.order.LaneEpoch;
import dev.stoker.schemas.order.Piece;
import dev.stoker.schemas.order.Window;
import dev.stoker.schemas.order.WindowSlice;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** Walks over the batches of an epoch, and over the rows of each batch. Keeps the last window of each lane. */
final class EpochCursor implements ExportCursor {
    private final EpochOrder epoch;
    private final Window[] windows;
    private final Deque<Run> runs = new ArrayDeque<>();
    private long batch;
    private int at = -1;

    /** A part of a window. */
    private record Run(Window window, int from, int to) {}

    /** @param first position in the epoch: number of samples to leave out */
    EpochCursor(EpochOrder epoch, long first) {
        this.epoch = epoch;
        this.windows = new Window[epoch.stream().lanes()];
        int size = epoch.stream().spec().batchSize();
        this.batch = first / size;
        for (long i = first % size; i > 0; i--) {
            next();
        }
    }

    @Override
    public boolean next() {
        Run run = runs.peek();
        if (run != null && at + 1 < run.to) {
            at++;
            return true;
        }
        runs.poll();
        while (runs.isEmpty()) {
            if (batch == epoch.numbering().size().batches()) {
                return false;
            }
            for (Piece piece : epoch.batch(batch)) {
                add(piece);
            }
            batch++;
        }
        at = runs.element().from;
        return true;
    }

    private void add(Piece piece) {
        LaneEpoch lane = epoch.lane(piece.lane());
        for (WindowSlice slice : lane.slices(piece.firstRow(), piece.rows())) {
            @Nullable Window window = windows[piece.lane()];
            if (window == null || window.index() != slice.window()) {
                window = lane.window(slice.window());
                windows[piece.lane()] = window;
            }
            runs.add(new Run(window, slice.from(), slice.to()));
        }
    }

    @Override
    public int chunk() {
        return runs.element().window.chunkAt(at);
    }

    @Override
    public int row() {
        return runs.element().window.rowAt(at);
    }
}
