package dev.stoker.ingest.topic;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;

/** The rate of a count over the last seconds. For one thread. */
final class PresentRate {

    private static final Duration WINDOW = Duration.ofSeconds(10);

    private record Look(long count, long atNs) {}

    private final Deque<Look> looks = new ArrayDeque<>();

    PresentRate() {
        looks.add(new Look(0, 0));
    }

    /** Returns the rate per second between the present count and the one a few seconds ago, at most since the start. */
    double of(long count, Duration elapsed) {
        Look now = new Look(count, elapsed.toNanos());
        looks.add(now);
        // The oldest look is the last one that is no younger than the window.
        while (looks.size() > 2 && now.atNs - second().atNs >= WINDOW.toNanos()) {
            looks.remove();
        }
        Look from = looks.element();
        return (now.count - from.count) / Math.max(1e-3, (now.atNs - from.atNs) / 1e9);
    }

    private Look second() {
        Iterator<Look> oldest = looks.iterator();
        oldest.next();
        return oldest.next();
    }
}
