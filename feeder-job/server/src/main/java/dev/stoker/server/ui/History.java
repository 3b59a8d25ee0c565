package dev.stoker.server.ui;

import java.util.ArrayDeque;
import java.util.List;

/**
 * Totals of the last minutes, one entry a second, so that a page that is opened late has something to draw.
 * Thread-safe.
 */
final class History {
    static final int SECONDS = 300;

    /** What trainers had used in all at a moment. */
    record Entry(long ms, long rows, long bytes) {}

    private final ArrayDeque<Entry> entries = new ArrayDeque<>();

    synchronized void add(Entry entry) {
        if (entries.size() == SECONDS) {
            entries.removeFirst();
        }
        entries.addLast(entry);
    }

    /** Oldest first. */
    synchronized List<Entry> all() {
        return List.copyOf(entries);
    }
}
