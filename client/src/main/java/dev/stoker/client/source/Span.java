package dev.stoker.client.source;

import dev.stoker.client.errors.FeedException;
import dev.stoker.schemas.order.EpochNumbering;
import dev.stoker.schemas.order.delivery.BatchNumbers;
import dev.stoker.schemas.order.delivery.DeliveredPiece;
import dev.stoker.schemas.order.delivery.Delivery;
import dev.stoker.schemas.order.delivery.SkippedBatches;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.BatchIdentity;
import dev.stoker.schemas.text.Units;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * The part of an epoch that one consumer reads: the virtual numbers at every stride-th slot from that of {@code first}
 * on (index 0 is {@code first}). Assembles its batches from pieces. Guarded by the client's lock.
 */
public final class Span {
    /** The numbers, without those that are skipped. Two spans with equal ranges are the same. */
    public record Range(long epoch, long first, int stride, long count, TailPolicy tail, SkippedBatches skipped) {
        public Range {
            if (epoch < 0 || first < 0 || stride < 1 || count < 0) {
                throw new IllegalArgumentException(
                        "epoch " + epoch + ", first " + first + ", stride " + stride + ", count " + count);
            }
        }
    }

    /** A place in a batch. */
    public record Place(long index, int piece) {}

    private final Range range;
    private final BatchNumbers numbers;
    private final EpochNumbering numbering;
    private final Map<Long, ReceivedPiece[]> partial = new HashMap<>();
    private final Map<Long, List<ReceivedPiece>> ready = new HashMap<>();
    private final Set<Long> ahead = new TreeSet<>();

    /** Batches that the trainer has finished. */
    public long consumed;
    /** Every batch below this index has arrived. */
    public long complete;
    /** The index through which the feeders may send. */
    public long granted = -1;

    public Span(Range range, EpochNumbering numbering) {
        this.range = range;
        this.numbers = new BatchNumbers(range.first, range.stride, range.count, range.skipped);
        this.numbering = numbering;
    }

    public Range range() {
        return range;
    }

    /** The error for a caller that still asks for batches of this span. */
    public FeedException isNoLongerRead() {
        return new FeedException(
                "epoch " + range.epoch + " is no longer read: another iteration was begun, or the feed is closed");
    }

    public EpochNumbering numbering() {
        return numbering;
    }

    public long number(long index) {
        return numbers.number(index);
    }

    /** The index of a virtual number; -1 if the number is not in this span. */
    public long index(long number) {
        return numbers.index(number);
    }

    /** Whether all batches have arrived. */
    public boolean isReceived() {
        return complete >= range.count;
    }

    /** The pieces that the order says make up a batch. */
    List<DeliveredPiece> planned(long index) {
        return Delivery.batch(numbering, range.tail, number(index)).pieces();
    }

    /** Whether a piece is still missing. */
    public boolean requests(long index, int piece) {
        if (index < complete || index >= range.count || ahead.contains(index)) {
            return false;
        }
        ReceivedPiece[] pieces = partial.get(index);
        return pieces == null || (piece < pieces.length && pieces[piece] == null);
    }

    /** Compares a piece with the order. Returns the difference, if there is one. */
    public Optional<String> mismatch(long index, BatchIdentity found) {
        List<DeliveredPiece> planned = planned(index);
        long rows = found.rows() + found.skipped();
        String expected = Units.plural(planned.size(), "piece");
        if (found.piece() < planned.size()) {
            DeliveredPiece p = planned.get(found.piece());
            if (found.pieces() == planned.size()
                    && found.lane() == p.lane()
                    && rows == p.rows()
                    && found.repeated() == p.repeated()) {
                return Optional.empty();
            }
            expected += ", lane " + p.lane() + ", " + Units.plural(p.rows(), "row") + ", repeated " + p.repeated();
        }
        return Optional.of("epoch " + range.epoch + " batch " + number(index) + " piece " + found.piece()
                + ": the feeder sent " + Units.plural(found.pieces(), "piece") + ", lane " + found.lane() + ", "
                + Units.plural(rows, "row") + ", repeated " + found.repeated() + "; the order says " + expected);
    }

    /** Adds a wanted piece. Returns whether it completes its batch. */
    public boolean add(long index, ReceivedPiece piece) {
        BatchIdentity identity = piece.header().identity();
        ReceivedPiece[] pieces = partial.computeIfAbsent(index, i -> new ReceivedPiece[identity.pieces()]);
        pieces[identity.piece()] = piece;
        for (ReceivedPiece each : pieces) {
            if (each == null) {
                return false;
            }
        }
        partial.remove(index);
        ready.put(index, Arrays.asList(pieces));
        ahead.add(index);
        while (ahead.remove(complete)) {
            complete++;
        }
        return true;
    }

    /** Returns a batch once, after it has arrived. */
    public Optional<List<ReceivedPiece>> take(long index) {
        return Optional.ofNullable(ready.remove(index));
    }

    /** The last piece of a batch that is ready. */
    public ReceivedPiece last(long index) {
        List<ReceivedPiece> pieces = Objects.requireNonNull(ready.get(index), "the batch is ready");
        return pieces.get(pieces.size() - 1);
    }

    public boolean isReady(long index) {
        return ready.containsKey(index);
    }

    /** The first missing piece of some lanes, except for the places in {@code without}. */
    public Optional<Place> lowestMissing(Set<Integer> lanes, Predicate<Place> without) {
        long end = Math.min(range.count, granted + 1);
        for (long index = complete; index < end; index++) {
            if (ahead.contains(index)) {
                continue;
            }
            List<DeliveredPiece> planned = planned(index);
            for (int piece = 0; piece < planned.size(); piece++) {
                Place place = new Place(index, piece);
                if (lanes.contains(planned.get(piece).lane()) && requests(index, piece) && !without.test(place)) {
                    return Optional.of(place);
                }
            }
        }
        return Optional.empty();
    }

    /** The lanes of the missing pieces of a batch. */
    public List<Integer> waitingLanes(long index) {
        List<DeliveredPiece> planned = planned(index);
        List<Integer> lanes = new ArrayList<>();
        for (int piece = 0; piece < planned.size(); piece++) {
            if (requests(index, piece)) {
                lanes.add(planned.get(piece).lane());
            }
        }
        return lanes;
    }
}
