package dev.stoker.schemas.kafka;

import java.util.Comparator;

/**
 * Identifies a record in its partition. Positions ascend in every partition, except for records that a restarted feed
 * writes again.
 *
 * @param epoch the epoch
 * @param kind beginning, batches, end: in this order
 * @param batch the batch's number in the epoch; 0 for control records
 * @param part the part of the batch's piece; 0 for control records
 */
public record RecordPosition(long epoch, RecordKind kind, long batch, int part) implements Comparable<RecordPosition> {
    private static final Comparator<RecordPosition> ORDER = Comparator.comparingLong(RecordPosition::epoch)
            .thenComparing(RecordPosition::kind)
            .thenComparingLong(RecordPosition::batch)
            .thenComparingInt(RecordPosition::part);

    public RecordPosition {
        if (epoch < 0 || batch < 0 || part < 0 || (kind != RecordKind.BATCH && (batch != 0 || part != 0))) {
            throw new IllegalArgumentException(
                    "no position: epoch " + epoch + ", " + kind + ", batch " + batch + ", part " + part);
        }
    }

    /** Returns the position of the first record of an epoch. */
    public static RecordPosition begin(long epoch) {
        return new RecordPosition(epoch, RecordKind.EPOCH_BEGIN, 0, 0);
    }

    /** Returns the position of the first part of a batch's piece. */
    public static RecordPosition batch(long epoch, long batch) {
        return new RecordPosition(epoch, RecordKind.BATCH, batch, 0);
    }

    /** Returns the position of the last record of an epoch. */
    public static RecordPosition end(long epoch) {
        return new RecordPosition(epoch, RecordKind.EPOCH_END, 0, 0);
    }

    @Override
    public int compareTo(RecordPosition other) {
        return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
        return switch (kind) {
            case EPOCH_BEGIN -> "beginning of epoch " + epoch;
            case EPOCH_END -> "end of epoch " + epoch;
            case BATCH -> "epoch " + epoch + " batch " + batch + " part " + part;
        };
    }
}
