package dev.stoker.cli.output;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * While it is open, turns Ctrl-C, hang-up and termination into calls of a listener instead of an exit. The calls run on
 * a thread of the virtual machine. A second signal of the same kind ends the process at once.
 */
public final class Signals implements AutoCloseable {

    /** The exit code after Ctrl-C. */
    public static final int INTERRUPTED = 130;

    private static final Map<String, Integer> NUMBERS = Map.of("HUP", 1, "INT", 2, "TERM", 15);

    private final Map<String, Object> before = new ConcurrentHashMap<>();
    private final List<Listener> listeners = new ArrayList<>();
    /** 128 and the number of the first signal; 0 before it. */
    private volatile int exitCode;

    /** Receives signals. */
    public interface Listener {
        /** Called with {@code INT}, {@code TERM} or {@code HUP}. */
        void signalled(String name);
    }

    /** Gives the result of interrupted work. */
    public interface AfterInterrupt<T> {
        T result(Exception e) throws Exception;
    }

    public Signals() {
        for (String name : NUMBERS.keySet()) {
            Jdk.handle(name, Jdk.handler(() -> received(name))).ifPresent(usual -> before.put(name, usual));
        }
    }

    private void received(String name) {
        if (before.remove(name) == null) {
            Runtime.getRuntime().halt(code(name));
        }
        List<Listener> called;
        synchronized (listeners) {
            if (exitCode == 0) {
                exitCode = code(name);
            }
            called = List.copyOf(listeners);
        }
        called.forEach(listener -> listener.signalled(name));
    }

    private static int code(String name) {
        return 128 + Objects.requireNonNull(NUMBERS.get(name));
    }

    /** Returns the exit code by which a shell recognises the first signal, or nothing if none has arrived. */
    public OptionalInt exitCode() {
        return exitCode == 0 ? OptionalInt.empty() : OptionalInt.of(exitCode);
    }

    public void on(Listener listener) {
        synchronized (listeners) {
            listeners.add(listener);
        }
    }

    public void onStop(Runnable action) {
        on(name -> action.run());
    }

    /**
     * Runs work whose thread the signals interrupt.
     *
     * @param afterInterrupt gets the exception of interrupted work, which depends on its state
     */
    public static <T> T interrupting(Callable<T> work, AfterInterrupt<T> afterInterrupt) throws Exception {
        AtomicBoolean interrupted = new AtomicBoolean();
        Thread worker = Thread.currentThread();
        try (Signals signals = new Signals()) {
            signals.onStop(() -> {
                interrupted.set(true);
                worker.interrupt();
            });
            return work.call();
        } catch (Exception e) {
            if (!interrupted.get()) {
                throw e;
            }
            return afterInterrupt.result(e);
        }
    }

    @Override
    public void close() {
        before.forEach(Jdk::handle);
    }

    /** The JDK's signal handling, in a package that is not part of the Java API, so compilers warn about it. */
    private static final class Jdk {

        private static final Class<?> HANDLER = type("sun.misc.SignalHandler");
        private static final Constructor<?> SIGNAL;
        private static final Method HANDLE;

        static {
            try {
                Class<?> signal = type("sun.misc.Signal");
                SIGNAL = signal.getConstructor(String.class);
                HANDLE = signal.getMethod("handle", signal, HANDLER);
            } catch (NoSuchMethodException e) {
                throw new IllegalStateException("this Java runtime has no sun.misc.Signal", e);
            }
        }

        private static Class<?> type(String name) {
            try {
                return Class.forName(name);
            } catch (ClassNotFoundException e) {
                throw new IllegalStateException("this Java runtime has no " + name, e);
            }
        }

        static Object handler(Runnable action) {
            return Proxy.newProxyInstance(
                    Signals.class.getClassLoader(), new Class<?>[] {HANDLER}, (self, method, args) -> {
                        switch (method.getName()) {
                            case "handle" -> action.run();
                            case "hashCode" -> {
                                return System.identityHashCode(self);
                            }
                            case "equals" -> {
                                return self == args[0];
                            }
                            default -> {
                                return "a handler of stoker";
                            }
                        }
                        return null;
                    });
        }

        /**
         * Installs a handler and returns the one before; empty if the signal cannot be handled, as with {@code -Xrs}.
         */
        static Optional<Object> handle(String name, Object handler) {
            try {
                return Optional.of(HANDLE.invoke(null, SIGNAL.newInstance(name), handler));
            } catch (InvocationTargetException e) {
                return Optional.empty();
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException("signals cannot be handled", e);
            }
        }
    }
}
