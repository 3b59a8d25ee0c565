package dev.stoker.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import sun.misc.Signal;
import sun.misc.SignalHandler;

/**
 * Ctrl-C, hang-up and termination as calls instead of an exit, for as long as this is open. The calls run on a thread of
 * the virtual machine. A second signal of the same kind ends the process at once.
 */
final class Signals implements AutoCloseable {

    private static final List<String> NAMES = List.of("INT", "TERM", "HUP");

    private final Map<String, SignalHandler> before = new ConcurrentHashMap<>();
    private final List<Listener> listeners = new ArrayList<>();

    /** Hears of a signal. */
    interface Listener {
        /** Called with {@code INT}, {@code TERM} or {@code HUP}. */
        void signalled(String name);
    }

    Signals() {
        for (String name : NAMES) {
            before.put(name, Signal.handle(new Signal(name), this::received));
        }
    }

    private void received(Signal signal) {
        SignalHandler usual = before.remove(signal.getName());
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
        before.forEach((name, handler) -> Signal.handle(new Signal(name), handler));
    }
}
