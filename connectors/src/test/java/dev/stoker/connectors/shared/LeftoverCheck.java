package dev.stoker.connectors.shared;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails after a test class that leaves something to the next classes of its JVM: jobs of the shared cluster, topics of
 * the shared broker, threads, or other system properties. It removes what it can, so that only this class fails.
 *
 * <p>JUnit finds it by {@code META-INF/services}, and adds it to each class, if {@code
 * junit.jupiter.extensions.autodetection.enabled} is set. The classes' own extensions and {@code @AfterAll} methods
 * have run before it.
 */
public final class LeftoverCheck implements BeforeAllCallback, AfterAllCallback {

    private static final ExtensionContext.Namespace NAMESPACE =
            ExtensionContext.Namespace.create(LeftoverCheck.class);

    /** Threads end some moments after the cluster or client that they belong to. */
    private static final long SECONDS = 20;

    /** Only threads that keep a JVM alive, or wait for work. Others are those of libraries. */
    private static final Predicate<String> POOLS =
            Pattern.compile("(pool-\\d+-thread-\\d+|ForkJoinPool-\\d+-worker-\\d+)").asMatchPredicate();

    /** Threads of the JVM, of the shared servers, and of libraries that keep one for the whole process. */
    private static final Predicate<String> ALLOWED =
            Pattern.compile("(ForkJoinPool\\.commonPool|junit-jupiter-timeout|surefire|flink-|mini-cluster-io|jobmanager-|Flink).*")
                    .asMatchPredicate();

    /** Properties that the JVM and libraries set once for the whole process. */
    private static final Predicate<String> OF_LIBRARIES =
            Pattern.compile("(user\\.timezone|io\\.netty\\..*)").asMatchPredicate();

    /** Threads of the shared servers in this process. */
    private static final Set<Thread> OF_SERVERS = ConcurrentHashMap.newKeySet();

    private record Before(Set<Thread> threads, Properties properties) {}

    /** Starts a server of the whole JVM, whose threads stay. */
    static <T> T starting(Callable<T> server) throws Exception {
        Set<Thread> before = threads();
        T started = server.call();
        threads().stream().filter(thread -> !before.contains(thread)).forEach(OF_SERVERS::add);
        return started;
    }

    private static boolean isOutermost(ExtensionContext context) {
        return context.getParent().equals(Optional.of(context.getRoot()));
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        if (isOutermost(context)) {
            context.getStore(NAMESPACE).put(Before.class, new Before(threads(), properties()));
        }
    }

    @Override
    public void afterAll(ExtensionContext context) throws Exception {
        if (!isOutermost(context)) {
            return;
        }
        Before before = context.getStore(NAMESPACE).get(Before.class, Before.class);
        List<String> found = new ArrayList<>();
        note(found, "jobs of the shared cluster", SharedFlink.cancelJobs());
        note(found, "topics of the shared broker", SharedKafka.deleteTopics(""));
        note(found, "threads", remaining(before.threads()));
        note(found, "system properties", restore(before.properties()));
        if (!found.isEmpty()) {
            throw new AssertionError(context.getRequiredTestClass().getName() + " leaves " + String.join("; ", found));
        }
    }

    private static void note(List<String> found, String what, Collection<String> names) {
        if (!names.isEmpty()) {
            found.add(what + ": " + String.join(", ", names));
        }
    }

    private static Set<Thread> threads() {
        return new HashSet<>(Thread.getAllStackTraces().keySet());
    }

    private static Collection<String> remaining(Set<Thread> before) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (true) {
            Set<String> names = new TreeSet<>();
            for (Thread thread : threads()) {
                String name = thread.getName();
                if (!before.contains(thread)
                        && !OF_SERVERS.contains(thread)
                        && (!thread.isDaemon() || POOLS.test(name))
                        && !ALLOWED.test(name)) {
                    names.add(name);
                }
            }
            if (names.isEmpty() || System.nanoTime() > deadline) {
                return names;
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }

    private static Properties properties() {
        return (Properties) System.getProperties().clone();
    }

    private static Collection<String> restore(Properties before) {
        Set<String> names = new TreeSet<>(before.stringPropertyNames());
        names.addAll(System.getProperties().stringPropertyNames());
        names.removeIf(name ->
                Objects.equals(before.getProperty(name), System.getProperty(name)) || OF_LIBRARIES.test(name));
        for (String name : names) {
            String value = before.getProperty(name);
            if (value == null) {
                System.clearProperty(name);
            } else {
                System.setProperty(name, value);
            }
        }
        return names;
    }
}
