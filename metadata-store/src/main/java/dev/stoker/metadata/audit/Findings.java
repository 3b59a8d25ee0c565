package dev.stoker.metadata.audit;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Collects findings: counts all of them and keeps the first of each kind, so a ruined ledger needs no more memory than
 * a good one.
 */
final class Findings {

    static final int KEPT_PER_KIND = 1000;

    private final Map<Finding.Kind, List<Finding>> kept = new EnumMap<>(Finding.Kind.class);
    private final Map<Finding.Kind, Long> counts = new EnumMap<>(Finding.Kind.class);

    void add(Finding.Kind kind, long batches, String message) {
        counts.merge(kind, 1L, Long::sum);
        List<Finding> list = kept.computeIfAbsent(kind, k -> new ArrayList<>());
        if (list.size() < KEPT_PER_KIND) {
            list.add(new Finding(kind, message, batches));
        }
    }

    List<Finding> kept() {
        return kept.values().stream().flatMap(List::stream).toList();
    }

    Map<Finding.Kind, Long> counts() {
        return counts;
    }
}
