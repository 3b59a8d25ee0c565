package dev.stoker.server.window;

import dev.stoker.schemas.batch.BatchBuilder;
import dev.stoker.schemas.batch.View;
import dev.stoker.schemas.order.EpochOrder;
import dev.stoker.schemas.order.Fingerprint;
import dev.stoker.schemas.order.LaneEpoch;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.schemas.order.StreamOrder;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A stream under one order spec; equal for all groups of a stream that use the same spec, so that they share windows.
 * Keeps the few epochs last asked for. Thread-safe.
 */
public final class GroupOrder {
    /** Ranks and workers of a group may stand on two neighbouring epochs, and look one ahead. */
    private static final int EPOCHS_KEPT = 4;

    private final ServedStream stream;
    private final StreamOrder order;
    private final Fingerprint fingerprint;
    private final Map<Long, EpochOrder> epochs = new LinkedHashMap<>(8, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, EpochOrder> eldest) {
            return size() > EPOCHS_KEPT;
        }
    };

    /**
     * Costs a pass over the stream's chunks; with a condition, also a read of their heads if it is new.
     *
     * @throws IllegalArgumentException if the condition does not fit the fields, or selects no row
     */
    public GroupOrder(ServedStream stream, OrderSpec spec) throws IOException {
        StreamChunks chunks = stream.chunks(spec);
        this.stream = stream;
        this.order = new StreamOrder(chunks, spec);
        this.fingerprint = Fingerprint.of(stream.dataset(), stream.version(), stream.split(), chunks, spec);
    }

    public ServedStream stream() {
        return stream;
    }

    public StreamOrder order() {
        return order;
    }

    public OrderSpec spec() {
        return order.spec();
    }

    public Fingerprint fingerprint() {
        return fingerprint;
    }

    /** The epoch's order. */
    public EpochOrder epoch(long epoch) {
        synchronized (epochs) {
            return epochs.computeIfAbsent(epoch, order::epoch);
        }
    }

    /** Has tiers filled with a lane's chunks, in the order in which its first epoch needs them. */
    public void warm(int lane) {
        if (lane < order.lanes()) {
            LaneEpoch first = epoch(0).lane(lane);
            for (int window = 0; window < first.windows(); window++) {
                for (int chunk : first.windowChunks(window)) {
                    if (order.chunks().liveRows(chunk) > 0) {
                        stream.source().warm(stream.file(chunk), first.windowFirstRow(window));
                    }
                }
            }
        }
    }

    /** Upper bound of a delivered batch's bytes, header and padding aside. */
    public long largestBatchBytes() {
        return spec().batchSize() * stream.chunks().largestRow();
    }

    /** Upper bound of a delivered batch's bytes with the columns of a view, header aside. */
    public long largestBatchBytes(View view) {
        BatchBuilder builder = new BatchBuilder(stream.fields(), view);
        long row = builder.largestRow(stream.chunks().largestRow());
        return builder.largestMessage(spec().batchSize(), row);
    }
}
