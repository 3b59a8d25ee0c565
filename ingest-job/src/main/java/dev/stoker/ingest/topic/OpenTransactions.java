package dev.stoker.ingest.topic;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Records of a topic that an open transaction hides: readers of committed records stop at its first record, also before
 * committed records. A program that has died can leave a transaction open. For one thread.
 */
final class OpenTransactions {

    /** Most transactions end before; only those that last longer are told while an ingest runs. */
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    /** What is hidden of a partition: offsets from the first one on, seen first at a time. */
    private record Hidden(long from, long offsets, long sinceNs) {}

    private final SortedMap<Integer, Hidden> hidden = new TreeMap<>();

    /**
     * Notes how far a topic is.
     *
     * @param readable the end of what can be read, by partition
     * @param written the end of what is written, by partition
     */
    void look(SortedMap<Integer, Long> readable, SortedMap<Integer, Long> written, long nowNs) {
        hidden.keySet().retainAll(written.keySet());
        written.forEach((partition, end) -> {
            long from = readable.getOrDefault(partition, end);
            Hidden before = hidden.get(partition);
            if (end <= from) {
                hidden.remove(partition);
            } else {
                long since = before != null && before.from == from ? before.sinceNs : nowNs;
                hidden.put(partition, new Hidden(from, end - from, since));
            }
        });
    }

    /** What is hidden now; empty if nothing is. */
    Optional<String> now() {
        return text(hidden);
    }

    /** What the same transactions have hidden for longer than most transactions last. */
    Optional<String> lasting(long nowNs) {
        SortedMap<Integer, Hidden> lasting = new TreeMap<>(hidden);
        lasting.values().removeIf(place -> nowNs - place.sinceNs < PATIENCE.toNanos());
        return text(lasting);
    }

    private static Optional<String> text(SortedMap<Integer, Hidden> hidden) {
        List<String> places = new ArrayList<>();
        hidden.forEach((partition, place) ->
                places.add(place.offsets + " in partition " + partition + " from offset " + place.from + " on"));
        return places.isEmpty()
                ? Optional.empty()
                : Optional.of("open transactions hide offsets: " + String.join(", ", places)
                        + "; they can be read when the transactions have ended."
                        + " `kafka-transactions.sh find-hanging` finds those whose program has died");
    }
}
