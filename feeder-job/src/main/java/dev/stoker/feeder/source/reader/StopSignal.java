package dev.stoker.feeder.source.reader;

import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The wish of this process's owner that a feed ends in good order: everything acknowledged goes to the ledger, a last
 * checkpoint completes, and the job finishes. Any thread may ask.
 */
public final class StopSignal {

    private static final Map<UUID, StopSignal> SIGNALS = new ConcurrentHashMap<>();

    private final Set<Runnable> listeners = ConcurrentHashMap.newKeySet();
    private volatile boolean asked;

    private StopSignal() {}

    /** The signal of a feed in this process. */
    public static StopSignal of(UUID feed) {
        return SIGNALS.computeIfAbsent(feed, id -> new StopSignal());
    }

    /** Forgets the feed's signal, so that a later feed of the same id starts without one. */
    public static void clear(UUID feed) {
        SIGNALS.remove(feed);
    }

    /** Asks the feed to end. */
    public void request() {
        asked = true;
        listeners.forEach(Runnable::run);
    }

    /** Whether somebody has asked. */
    public boolean isRequested() {
        return asked;
    }

    /** Has somebody told when the feed is to end; any thread. */
    public void listen(Runnable listener) {
        listeners.add(listener);
    }

    /** Takes back a {@link #listen}. */
    public void forget(Runnable listener) {
        listeners.remove(listener);
    }

    boolean requested() {
        return asked;
    }

    void add(Runnable listener) {
        listeners.add(listener);
    }

    void remove(Runnable listener) {
        listeners.remove(listener);
    }
}
