package dev.stoker.feeder.node;

import java.util.ArrayList;
import java.util.List;

/**
 * How much of its newest subscription one trainer has acknowledged, as far as one node knows.
 *
 * <p>Nodes report it apart; {@link #merge} adds what another node knows of the same trainer. A re-subscription of the same
 * run, epoch and stride (after a reconnect) continues the same progress.
 *
 * @param identity the trainer
 * @param epoch the subscription's epoch
 * @param first its first virtual number
 * @param stride the distance of its numbers
 * @param end one past its last virtual number
 * @param expectedPieces pieces that the numbers from {@code first} to {@code end} consist of
 * @param acked per piece index the acknowledged steps, counted as {@code (number - first mod stride) / stride}
 */
public record SubscriptionProgress(
        Identity identity, long epoch, long first, long stride, long end, long expectedPieces, List<AckRanges> acked) {
    /** Pieces acknowledged. */
    public long ackedPieces() {
        long sum = 0;
        for (AckRanges piece : acked) {
            sum += piece.size();
        }
        return sum;
    }

    /** Whether nothing of the subscription is left to acknowledge. */
    public boolean complete() {
        return ackedPieces() >= expectedPieces;
    }

    /** Whether both speak of the same numbers of the same run, rank, worker and replica. */
    public boolean continues(SubscriptionProgress other) {
        return identity.equals(other.identity)
                && epoch == other.epoch
                && stride == other.stride
                && first % stride == other.first % stride;
    }

    /** What both know together. */
    public SubscriptionProgress merge(SubscriptionProgress other) {
        if (!continues(other)) {
            throw new IllegalArgumentException("progress of " + identity + " epoch " + epoch + " does not go with "
                    + other.identity + " epoch " + other.epoch);
        }
        SubscriptionProgress wider = other.first < first ? other : this;
        List<AckRanges> merged = new ArrayList<>();
        for (int i = 0; i < Math.max(acked.size(), other.acked.size()); i++) {
            AckRanges set = i < acked.size() ? acked.get(i).copy() : new AckRanges();
            if (i < other.acked.size()) {
                set.addAll(other.acked.get(i));
            }
            merged.add(set);
        }
        return new SubscriptionProgress(identity, epoch, wider.first, stride, wider.end, wider.expectedPieces, merged);
    }
}
