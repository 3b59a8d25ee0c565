package dev.stoker.metadata.explain;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.metadata.index.SampleStat;
import dev.stoker.metadata.selection.Selections;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.order.EpochOrder;
import dev.stoker.schemas.order.EpochSize;
import dev.stoker.schemas.order.LaneEpoch;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.schemas.order.StreamOrder;
import dev.stoker.schemas.order.Window;
import dev.stoker.schemas.order.WindowSlice;
import dev.stoker.schemas.order.delivery.DeliveredPiece;
import dev.stoker.schemas.order.delivery.Delivery;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Computes from the order function which samples a batch has, and which batch has a sample. Reads no ledger and no
 * payload: only the heads of the chunks that a batch comes from, and the sample index. Not thread-safe.
 */
public final class OrderExplanation {

    private static final int WINDOWS_KEPT = 4;

    private final Dataset dataset;
    private final Snapshot snapshot;
    private final String split;
    private final StreamOrder order;
    private final Map<WindowKey, Window> windows = new LinkedHashMap<>(WINDOWS_KEPT, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<WindowKey, Window> eldest) {
            return size() > WINDOWS_KEPT;
        }
    };

    private EpochOrder last;

    private record WindowKey(long epoch, int lane, int window) {}

    /**
     * @param snapshot the version that the feed reads
     * @param split the split
     * @param spec the order
     * @throws dev.stoker.metadata.UnknownSplitException if the version has no such split
     */
    public OrderExplanation(Dataset dataset, Snapshot snapshot, String split, OrderSpec spec) throws IOException {
        this.dataset = dataset;
        this.snapshot = snapshot;
        this.split = split;
        this.order = new StreamOrder(Selections.stream(dataset.store(), snapshot, split, spec.where()), spec);
        this.last = order.epoch(0);
    }

    /** Returns the lengths of an epoch, which are the same for all epochs of the version. */
    public EpochSize size() {
        return order.size();
    }

    /**
     * Returns the samples of a batch, in their order.
     *
     * @param number virtual number of the batch
     * @throws IllegalArgumentException if the number delivers nothing under this tail policy
     */
    public List<BatchSample> batch(long epoch, TailPolicy tail, long number) throws IOException {
        EpochOrder numbers = epoch(epoch);
        StreamChunks all = order.chunks();
        Map<Integer, ChunkHead> heads = new LinkedHashMap<>();
        ObjectStore store = dataset.store();
        List<BatchSample> samples = new ArrayList<>();
        for (DeliveredPiece piece :
                Delivery.batch(numbers.numbering(), tail, number).pieces()) {
            for (WindowSlice slice : numbers.lane(piece.lane()).slices(piece.firstRow(), piece.rows())) {
                Window window = window(numbers, piece.lane(), slice.window());
                for (int i = slice.from(); i < slice.to(); i++) {
                    int chunk = window.chunkAt(i);
                    ChunkHead head = heads.get(chunk);
                    if (head == null) {
                        int index = snapshot.table().indexOf(all.ordinal(chunk));
                        head = ChunkHeads.read(store, snapshot.table(), index);
                        heads.put(chunk, head);
                    }
                    samples.add(new BatchSample(
                            head.key(window.rowAt(i)), all.ordinal(chunk), window.rowAt(i), piece.repeated()));
                }
            }
        }
        return samples;
    }

    /**
     * Finds a sample in the stream.
     *
     * @return where the sample is stored; empty if the version or the split does not have it
     */
    public Optional<SampleStat> stat(SampleIndex index, String key) throws IOException {
        return index.stat(key).filter(stat -> stat.split().equals(split));
    }

    /**
     * Returns where an epoch has a sample of the stream. Under tail {@code pad}, it can be repeated elsewhere.
     *
     * @throws IllegalArgumentException if the condition of the order leaves the sample out
     */
    public SamplePosition place(long epoch, SampleStat sample) {
        StreamChunks all = order.chunks();
        int chunk = all.indexOf(sample.ordinal());
        if (!all.where().isEmpty() && Arrays.binarySearch(all.rowsOf(chunk), sample.row()) < 0) {
            throw new IllegalArgumentException("the sample does not satisfy where \"" + all.where() + "\"");
        }
        EpochOrder numbers = epoch(epoch);
        LaneEpoch lane = numbers.lane(order.laneOf(chunk));
        Window window = window(numbers, lane.lane(), lane.windowOfChunk(chunk));
        for (int i = 0; i < window.rows(); i++) {
            if (window.rowAt(i) == sample.row() && window.chunkAt(i) == chunk) {
                long row = window.firstRow() + i;
                long batch = numbers.numbering().batchOf(lane.lane(), row);
                return new SamplePosition(epoch, batch, numbers.numbering().indexIn(batch, lane.lane(), row));
            }
        }
        throw new IllegalArgumentException(
                "row " + sample.row() + " of chunk " + sample.ordinal() + " is not in the version");
    }

    /** Keeps the last epoch, which keeps the lanes that were asked for. */
    private EpochOrder epoch(long epoch) {
        if (last.epoch() != epoch) {
            last = order.epoch(epoch);
        }
        return last;
    }

    private Window window(EpochOrder numbers, int lane, int window) {
        return windows.computeIfAbsent(
                new WindowKey(numbers.epoch(), lane, window),
                key -> numbers.lane(lane).window(window));
    }
}
