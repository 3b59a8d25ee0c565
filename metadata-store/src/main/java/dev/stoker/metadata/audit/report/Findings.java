package dev.stoker.metadata.audit.report;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Collects findings: counts all of them and keeps the first of each kind, so a ruined ledger needs no more memory than
 * a good one.
 */
public final class Findings implements Serializable {

    private static final long serialVersionUID = 1;

    public static final int KEPT_PER_KIND = 1000;

    private final EnumMap<Finding.Kind, ArrayList<Finding>> kept = new EnumMap<>(Finding.Kind.class);
    private final EnumMap<Finding.Kind, Long> counts = new EnumMap<>(Finding.Kind.class);

    public void add(Finding.Kind kind, long batches, String message) {
        counts.merge(kind, 1L, Long::sum);
        List<Finding> list = kept.computeIfAbsent(kind, k -> new ArrayList<>());
        if (list.size() < KEPT_PER_KIND) {
            list.add(new Finding(kind, message, batches));
        }
    }

    /** Adds the findings of another part of the audit. */
    public void addAll(Findings others) {
        others.counts.forEach((kind, count) -> counts.merge(kind, count, Long::sum));
        others.kept.forEach((kind, findings) -> {
            List<Finding> list = kept.computeIfAbsent(kind, k -> new ArrayList<>());
            list.addAll(findings.subList(0, Math.min(findings.size(), KEPT_PER_KIND - list.size())));
        });
    }

    public List<Finding> kept() {
        return kept.values().stream().flatMap(List::stream).toList();
    }

    public Map<Finding.Kind, Long> counts() {
        return counts;
    }
}
