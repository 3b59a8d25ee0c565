package dev.stoker.storage;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;

/** Threads of servers that all tests of a JVM share. They stay until it ends. */
public final class ServerThreads {

    private static final Set<Thread> THREADS = ConcurrentHashMap.newKeySet();

    private ServerThreads() {}

    /** Starts a server, whose threads are those that begin meanwhile. */
    public static <T> T starting(Callable<T> server) throws Exception {
        Set<Thread> before = running();
        T started = server.call();
        running().stream().filter(thread -> !before.contains(thread)).forEach(THREADS::add);
        return started;
    }

    /** Returns whether a thread belongs to one of them. */
    public static boolean contain(Thread thread) {
        return THREADS.contains(thread);
    }

    private static Set<Thread> running() {
        return new HashSet<>(Thread.getAllStackTraces().keySet());
    }
}
