package dev.stoker.schemas.order;

/**
 * Lists the batches of an epoch that contain rows of one lane, in ascending numbers: its full batches, then the joint
 * batches with the rest of its rows. No lane has two pieces in one batch. Immutable and thread-safe.
 */
public final class LanePieces {
    private final EpochNumbering numbering;
    private final int lane;

    /** @param lane below {@link EpochNumbering#lanes} */
    public LanePieces(EpochNumbering numbering, int lane) {
        if (lane < 0 || lane >= numbering.lanes()) {
            throw new IllegalArgumentException("lane " + lane + " of " + numbering.lanes());
        }
        this.numbering = numbering;
        this.lane = lane;
    }

    /** Returns the number of batches. */
    public long count() {
        return numbering.fullBatches(lane) + numbering.jointBatches(lane);
    }

    /** Returns the number of the i-th batch. */
    public long number(long i) {
        if (i < 0 || i >= count()) {
            throw new IllegalArgumentException("piece " + i + " of " + count() + " of lane " + lane);
        }
        long full = numbering.fullBatches(lane);
        return i < full ? numbering.fullBatch(lane, i) : numbering.firstJointBatch(lane) + i - full;
    }

    /**
     * Returns the index of the first batch whose number is at least {@code number}; {@link #count} if there is none.
     */
    public long firstFrom(long number) {
        long low = 0;
        long high = count();
        while (low < high) {
            long middle = (low + high) >>> 1;
            if (number(middle) < number) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
