package dev.stoker.schemas.order;

import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Computes one epoch of a stream. A lane is computed at the first request and then kept as long as this object. Two
 * threads that request it at the same time compute it twice, with equal results. Thread-safe.
 */
public final class EpochOrder {
    private final StreamOrder stream;
    private final long epoch;
    private final EpochNumbering numbering;
    private final AtomicReferenceArray<LaneEpoch> lanes;

    EpochOrder(StreamOrder stream, long epoch) {
        this.stream = stream;
        this.epoch = epoch;
        this.numbering = new EpochNumbering(stream.spec(), stream.laneRows(), epoch);
        this.lanes = new AtomicReferenceArray<>(stream.lanes());
    }

    public StreamOrder stream() {
        return stream;
    }

    public long epoch() {
        return epoch;
    }

    /** Returns the numbering, which maps batches to rows of lanes. */
    public EpochNumbering numbering() {
        return numbering;
    }

    /** Returns the pieces of a batch; see {@link EpochNumbering#batch}. */
    public List<Piece> batch(long number) {
        return numbering.batch(number);
    }

    /** Returns the lane's chunk sequence and windows. */
    public LaneEpoch lane(int lane) {
        LaneEpoch known = lanes.get(lane);
        if (known == null) {
            known = new LaneEpoch(stream, lane, epoch);
            lanes.set(lane, known);
        }
        return known;
    }
}
