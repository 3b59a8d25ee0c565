package dev.stoker.schemas.order;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The order function as its page reads, with objects, lists and comparators; enumerates everything. */
final class NaiveOrder {
    record NaiveChunk(long ordinal, int rows, long length, boolean live, List<Integer> removed) {
        List<Integer> liveRows() {
            List<Integer> rows = new ArrayList<>();
            for (int r = 0; live && r < rows(); r++) {
                if (!removed.contains(r)) {
                    rows.add(r);
                }
            }
            return rows;
        }
    }

    record Sample(long ordinal, int row) {}

    final List<List<NaiveChunk>> lanes = new ArrayList<>();
    private final OrderSpec spec;
    private final int divisor;

    NaiveOrder(OrderSpec spec, List<NaiveChunk> ever) {
        this.spec = spec;
        divisor = Math.min(spec.lanes(), Math.max(1, ever.size()));
        int count = spec.shuffle() == ShufflePolicy.NONE ? 1 : divisor;
        List<Long> rows = new ArrayList<>();
        for (int l = 0; l < count; l++) {
            lanes.add(new ArrayList<>());
            rows.add(0L);
        }
        for (NaiveChunk chunk : ever) {
            int least = 0;
            for (int l = 1; l < count; l++) {
                if (rows.get(l) < rows.get(least)) {
                    least = l;
                }
            }
            rows.set(least, rows.get(least) + chunk.rows());
            lanes.get(least).add(chunk);
        }
    }

    List<Sample> lane(int lane, long epoch) {
        List<NaiveChunk> sequence = new ArrayList<>(
                lanes.get(lane).stream().filter(NaiveChunk::live).toList());
        Comparator<NaiveChunk> byOrdinal = Comparator.comparingLong(NaiveChunk::ordinal);
        sequence.sort(
                spec.shuffle() == ShufflePolicy.NONE
                        ? byOrdinal
                        : this.<NaiveChunk>byKey(c -> new long[] {spec.seed(), 1, epoch, lane, c.ordinal()})
                                .thenComparing(byOrdinal));
        List<Sample> out = new ArrayList<>();
        List<Sample> window = new ArrayList<>();
        long bytes = 0;
        int w = 0;
        for (int i = 0; i < sequence.size(); i++) {
            NaiveChunk chunk = sequence.get(i);
            chunk.liveRows().forEach(r -> window.add(new Sample(chunk.ordinal(), r)));
            bytes += chunk.length();
            if (bytes >= spec.shuffleWindowBytes() / divisor || i == sequence.size() - 1) {
                int index = w++;
                if (spec.shuffle() == ShufflePolicy.WINDOW) {
                    window.sort(this.<Sample>byKey(
                                    s -> new long[] {spec.seed(), 2, epoch, lane, index, s.ordinal(), s.row()})
                            .thenComparing(Sample::ordinal)
                            .thenComparing(Sample::row));
                }
                out.addAll(window);
                window.clear();
                bytes = 0;
            }
        }
        return out;
    }

    /** Every batch of an epoch, as samples. */
    List<List<Sample>> batches(long epoch) {
        List<List<Sample>> laneRows = new ArrayList<>();
        for (int l = 0; l < lanes.size(); l++) {
            laneRows.add(lane(l, epoch));
        }
        int size = spec.batchSize();
        List<List<Sample>> out = new ArrayList<>();
        for (int k = 0; ; k++) {
            int round = k;
            List<Integer> turn = new ArrayList<>();
            for (int l = 0; l < lanes.size(); l++) {
                if (laneRows.get(l).size() / size > k) {
                    turn.add(l);
                }
            }
            if (turn.isEmpty()) {
                break;
            }
            if (spec.laneOrder() == LaneOrder.MIXED) {
                turn.sort(this.<Integer>byKey(l -> new long[] {spec.seed(), 3, epoch, round, l})
                        .thenComparing(l -> l));
            }
            turn.forEach(l -> out.add(laneRows.get(l).subList(round * size, (round + 1) * size)));
        }
        List<Sample> rest = new ArrayList<>();
        laneRows.forEach(rows -> rest.addAll(rows.subList(rows.size() / size * size, rows.size())));
        for (int i = 0; i < rest.size(); i += size) {
            out.add(rest.subList(i, Math.min(rest.size(), i + size)));
        }
        return out;
    }

    private interface Key<T> {
        long[] of(T value);
    }

    private <T> Comparator<T> byKey(Key<T> key) {
        return (a, b) -> Long.compareUnsigned(hash(key.of(a)), hash(key.of(b)));
    }

    private static long hash(long[] parts) {
        long h = 0;
        for (long part : parts) {
            h = finish(h ^ finish(part + 0x9E3779B97F4A7C15L));
        }
        return h;
    }

    private static long finish(long value) {
        long z = value;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }
}
