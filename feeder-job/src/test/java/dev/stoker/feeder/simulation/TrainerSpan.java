package dev.stoker.feeder.simulation;

import dev.stoker.schemas.order.delivery.DeliveredBatch;
import dev.stoker.schemas.order.delivery.DeliveredPiece;
import dev.stoker.schemas.order.delivery.Delivery;
import dev.stoker.schemas.order.delivery.SkippedBatches;
import dev.stoker.schemas.protocol.AckEntry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A trainer's numbers of one epoch: the pieces that have arrived, and the batches that it has consumed. */
final class TrainerSpan {
    /** A receipt and the connection that its piece came by. */
    record Arrival(TrainerLink link, AckEntry entry) {}

    /** A batch of which some pieces have arrived. */
    private static final class Assembly {
        final Arrival[] arrivals;
        int missing;

        Assembly(DeliveredBatch expected) {
            this.arrivals = new Arrival[expected.pieces().size()];
            this.missing = arrivals.length;
        }
    }

    final long epoch;
    final Delivery delivery;
    final int count;
    private final Oracle oracle;
    private final SkippedBatches skipped;
    private final Map<Integer, Assembly> batches = new TreeMap<>();
    /** How many of the first batches are complete, and how many were consumed. */
    int complete;

    int consumed;
    /** Whether the ledger says that the trainer has no number here. */
    boolean isTold;

    /** @param delivery of slots */
    TrainerSpan(Oracle oracle, SkippedBatches skipped, long epoch, Delivery delivery) {
        this.oracle = oracle;
        this.skipped = skipped;
        this.epoch = epoch;
        this.delivery = delivery;
        this.count = Math.toIntExact(delivery.steps());
    }

    /** The number at an index, which may be the one behind the last. */
    long number(int index) {
        return skipped.number(slot(index));
    }

    /** The slot at an index. */
    long slot(int index) {
        return delivery.first() + (long) index * delivery.stride();
    }

    /** The index of a number, or -1 if it is not one of these. */
    int index(long number) {
        long distance = skipped.slot(number) - delivery.first();
        boolean isOurs = distance >= 0 && distance % delivery.stride() == 0 && distance / delivery.stride() < count;
        return isOurs && !skipped.contains(number) ? (int) (distance / delivery.stride()) : -1;
    }

    boolean isReceived() {
        return complete == count;
    }

    DeliveredBatch expected(int index) {
        return oracle.batch(epoch, number(index), delivery.tail());
    }

    /** Adds a piece. Returns false if it had arrived before. */
    boolean take(int index, AckEntry entry, TrainerLink link) {
        if (index < consumed) {
            return false;
        }
        Assembly assembly = batches.computeIfAbsent(index, i -> new Assembly(expected(i)));
        if (assembly.arrivals[entry.piece()] != null) {
            return false;
        }
        assembly.arrivals[entry.piece()] = new Arrival(link, entry);
        assembly.missing--;
        while (complete < count && isComplete(complete)) {
            complete++;
        }
        return true;
    }

    private boolean isComplete(int index) {
        Assembly assembly = batches.get(index);
        return assembly != null && assembly.missing == 0;
    }

    /** Returns the number of batches in memory, complete or in part. */
    int held() {
        return batches.size();
    }

    /** Takes the next batch out; its receipts are returned. */
    List<Arrival> consume() {
        Assembly assembly = batches.remove(consumed++);
        return List.of(assembly.arrivals);
    }

    /** Lanes of which pieces are missing for the next batch. */
    List<Integer> missingLanes() {
        List<Integer> lanes = new ArrayList<>();
        if (complete < count) {
            Assembly assembly = batches.get(complete);
            List<DeliveredPiece> pieces = expected(complete).pieces();
            for (int i = 0; i < pieces.size(); i++) {
                if (assembly == null || assembly.arrivals[i] == null) {
                    lanes.add(pieces.get(i).lane());
                }
            }
        }
        return lanes;
    }
}
