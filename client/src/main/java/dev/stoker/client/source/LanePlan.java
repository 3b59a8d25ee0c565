package dev.stoker.client.source;

import dev.stoker.schemas.kafka.RecordPosition;
import dev.stoker.schemas.order.EpochNumbering;
import dev.stoker.schemas.order.LaneOrder;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.Piece;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The planned pieces of the lanes that a consumer reads from end to end, in the order of each lane's partition. The
 * plan reaches only up to the numbers that are needed for the records that have arrived. Guarded by the client's lock.
 */
public final class LanePlan {
    /**
     * A piece that a lane delivers.
     *
     * @param span the span that the piece belongs to
     * @param index the index of its batch in the span
     * @param piece its index in the batch
     */
    public record Coming(Span span, long index, int piece) {
        public RecordPosition position() {
            return RecordPosition.batch(span.range().epoch(), span.number(index));
        }
    }

    /** The numbers of a span that are not planned yet. */
    private static final class Rest {
        private final Span span;
        private final long end;
        private long index;

        Rest(Span span) {
            this.span = span;
            Span.Range range = span.range();
            // The reader looks up repeated pieces when they are wanted.
            long left = range.skipped().left() - range.skipped().slot(range.first());
            long below = left <= 0 ? 0 : (left + range.stride() - 1) / range.stride();
            this.end = Math.min(range.count(), below);
        }
    }

    private final Set<Integer> lanes;
    private final Map<Integer, Deque<Coming>> coming = new HashMap<>();
    private final Deque<Rest> rests = new ArrayDeque<>();

    public LanePlan(Set<Integer> lanes) {
        this.lanes = Set.copyOf(lanes);
        lanes.forEach(lane -> coming.put(lane, new ArrayDeque<>()));
    }

    /**
     * The lanes that a consumer reads from end to end: those that hold its next numbers. Under a fixed lane order, the
     * last rounds of an epoch do not use every lane, which shifts numbers to other lanes. The few pieces of these lanes
     * are looked up one by one.
     */
    public static Set<Integer> lanesOf(OrderSpec order, Span span) {
        EpochNumbering numbering = span.numbering();
        Span.Range range = span.range();
        long steps = Math.min(range.count(), 8L * numbering.lanes());
        Map<Integer, Integer> hits = new HashMap<>();
        for (long index = 0; index < steps && span.number(index) < numbering.fullBatches(); index++) {
            hits.merge(numbering.batch(span.number(index)).get(0).lane(), 1, Integer::sum);
        }
        int most = hits.values().stream().mapToInt(Integer::intValue).max().orElse(0);
        int least = order.laneOrder() == LaneOrder.FIXED ? most / 2 : 0;
        Set<Integer> lanes = new TreeSet<>();
        hits.forEach((lane, n) -> {
            if (n > least) {
                lanes.add(lane);
            }
        });
        return lanes;
    }

    public Set<Integer> lanes() {
        return lanes;
    }

    /** Adds the numbers of a span, which follow those added before. */
    public void add(Span span) {
        rests.add(new Rest(span));
    }

    /** Returns the lane's next piece; empty if there is none. */
    public Optional<Coming> next(int lane) {
        Deque<Coming> mine = coming(lane);
        while (mine.isEmpty() && !rests.isEmpty()) {
            Rest rest = rests.peek();
            if (rest.index >= rest.end) {
                rests.remove();
                continue;
            }
            List<Piece> pieces = rest.span.numbering().batch(rest.span.number(rest.index));
            for (int piece = 0; piece < pieces.size(); piece++) {
                if (lanes.contains(pieces.get(piece).lane())) {
                    coming(pieces.get(piece).lane()).add(new Coming(rest.span, rest.index, piece));
                }
            }
            rest.index++;
        }
        return Optional.ofNullable(mine.peek());
    }

    /** Notes that the lane's next piece has arrived. */
    public void took(int lane) {
        coming(lane).remove();
    }

    private Deque<Coming> coming(int lane) {
        return Objects.requireNonNull(coming.get(lane), "the plan has the lane");
    }
}
