package dev.stoker.ingest.pack.sync;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** Counts what a sync has found, with the first keys of each kind in the order of the keys. Thread-safe. */
public final class SyncChanges {

    /** Maximum number of {@link #first}. */
    public static final int FIRST_KEYS = 10;

    /** The kinds of keys. */
    public enum Kind {
        /** There is a file, but no sample. */
        ADDED,
        /** File and sample differ, and the sample is replaced. */
        CHANGED,
        /** The file has another class than the sample, which is replaced. */
        RELABELLED,
        /** There is no file, and the sample is removed. */
        REMOVED,
        /** There is no file, but the sample stays. */
        MISSING,
        /** File and sample differ, but the sample stays with the values that an update has set. */
        UPDATED,
        /** File and sample agree, except for values that an update has set. */
        UNCHANGED
    }

    private final Map<Kind, Long> counts = new EnumMap<>(Kind.class);
    private final Map<Kind, TreeSet<String>> first = new EnumMap<>(Kind.class);

    /** Counts a key. */
    public synchronized void add(Kind kind, String key) {
        counts.merge(kind, 1L, Long::sum);
        TreeSet<String> keys = first.computeIfAbsent(kind, k -> new TreeSet<>());
        keys.add(key);
        if (keys.size() > FIRST_KEYS) {
            keys.pollLast();
        }
    }

    /** Adds all keys of another one. */
    public void addAll(SyncChanges other) {
        for (Kind kind : Kind.values()) {
            long count = other.count(kind);
            List<String> keys = other.first(kind);
            synchronized (this) {
                keys.forEach(key -> add(kind, key));
                counts.merge(kind, count - keys.size(), Long::sum);
            }
        }
    }

    public synchronized long count(Kind kind) {
        return counts.getOrDefault(kind, 0L);
    }

    /** Returns the first keys of a kind. */
    public synchronized List<String> first(Kind kind) {
        return List.copyOf(first.getOrDefault(kind, new TreeSet<>()));
    }
}
