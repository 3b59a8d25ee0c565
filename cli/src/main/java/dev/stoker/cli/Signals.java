package dev.stoker.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Ctrl-C, hang-up and termination as calls instead of an exit, for as long as this is open. The calls run on a thread of
 * the virtual machine. A second signal of the same kind ends the process at once.
 */
@SuppressWarnings("sunapi") // Java has no other way to hear of signals.
final class Signals implements AutoCloseable {

    private static final List<String> NAMES = List.of("INT", "TERM", "HUP");

    private final Map<String, sun.misc.SignalHandler> before = new ConcurrentHashMap<>();
    private final List<Listener> listeners = new ArrayList<>();

    /** Hears of a signal. */
    interface Listener {
        /** Called with {@code INT}, {@code TERM} or {@code HUP}. */
        void signalled(String name);
    }

    Signals() {
        for (String name : NAMES) {
            before.put(name, sun.misc.Signal.handle(new sun.misc.Signal(name), this::received));
        }
    }

    private void received(sun.misc.Signal signal) {
        sun.misc.SignalHandler usual = before.remove(signal.getName());
        if (usual == null) {
            Runtime.getRuntime().halt(128 + signal.getNumber());
        }
        List<Listener> called;
        synchronized (listeners) {
            called = List.copyOf(listeners);
        }
        called.forEach(listener -> listener.signalled(signal.getName()));
    }

    void on(Listener listener) {
        synchronized (listeners) {
            listeners.add(listener);
        }
    }

    void onStop(Runnable action) {
        on(name -> action.run());
    }

    @Override
    public void close() {
        before.forEach((name, handler) -> sun.misc.Signal.handle(new sun.misc.Signal(name), handler));
    }
}
