package dev.stoker.client.feeder;

import dev.stoker.client.source.Span;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The pieces of the span being received that arrived damaged, until an intact copy arrives. The client's lock guards
 * them.
 */
final class DamagedPieces {
    /** How often a piece arrived damaged, and when it last did. */
    private record Damage(int times, long whenNs) {}

    private final Map<Span.Place, Damage> damaged = new HashMap<>();
    private @Nullable Span span;

    /** Forgets the pieces of other spans. */
    void select(Span current) {
        if (span != current) {
            damaged.clear();
            span = current;
        }
    }

    /** Forgets everything unless this span is being received. */
    void keepOnly(@Nullable Span receiving) {
        if (span != receiving) {
            damaged.clear();
        }
    }

    void clear() {
        damaged.clear();
    }

    /** An intact copy has arrived. */
    void repaired(Span.Place place) {
        damaged.remove(place);
    }

    /** Counts a damaged piece. Returns how often it arrived damaged. */
    int add(Span.Place place, long nowNs) {
        int times = damaged.getOrDefault(place, new Damage(0, 0)).times() + 1;
        damaged.put(place, new Damage(times, nowNs));
        return times;
    }

    boolean contains(Span.Place place) {
        return damaged.containsKey(place);
    }

    /** Returns whether a piece of a batch arrived damaged. */
    boolean hasAny(Span of, long index) {
        return of == span && damaged.keySet().stream().anyMatch(place -> place.index() == index);
    }

    /** Returns whether an intact copy has not arrived in this time. If so, the time begins again for all pieces. */
    boolean isOverdue(long nowNs, long refetchNs) {
        boolean isOverdue = damaged.values().stream().anyMatch(each -> nowNs - each.whenNs() > refetchNs);
        if (isOverdue) {
            damaged.replaceAll((place, each) -> new Damage(each.times(), nowNs));
        }
        return isOverdue;
    }
}
