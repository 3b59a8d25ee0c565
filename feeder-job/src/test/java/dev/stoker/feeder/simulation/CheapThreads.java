package dev.stoker.feeder.simulation;

import java.lang.reflect.Method;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;

/**
 * Virtual threads, which take turns at half the cost of the system's threads. They exist since JDK 21, which is later
 * than the one that the sources are written for. Until JDK 24 a virtual thread that waits in a monitor occupies a
 * processor's thread, so they are used from there on.
 */
final class CheapThreads {
    private static final int FIRST_RELEASE = 24;

    private CheapThreads() {}

    static boolean areThere() {
        return Runtime.version().feature() >= FIRST_RELEASE;
    }

    /** Returns a pool of at most this many threads. */
    @SuppressWarnings("RethrowReflectiveOperationExceptionAsLinkageError") // An assertion: only newer JDKs run it.
    static ExecutorService pool(int limit) {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Method factory = Class.forName("java.lang.Thread$Builder").getMethod("factory");
            ThreadFactory threads = (ThreadFactory) factory.invoke(builder);
            return limit == Integer.MAX_VALUE
                    ? Executors.newCachedThreadPool(threads)
                    : Executors.newFixedThreadPool(limit, threads);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError("JDK " + Runtime.version() + " has no virtual threads", e);
        }
    }
}
