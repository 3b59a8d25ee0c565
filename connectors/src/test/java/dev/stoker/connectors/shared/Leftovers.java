package dev.stoker.connectors.shared;

import dev.stoker.storage.ServerThreads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * Finds what a test leaves to the next tests of its JVM: jobs of the shared cluster, topics of the shared broker,
 * threads, and changed system properties. Removes all of it but the threads.
 */
final class Leftovers {

    /** Pools wait for work that does not come, even if their threads are daemons. Other daemons are of libraries. */
    private static final Predicate<String> POOLS = Pattern.compile(
                    "(pool-\\d+-thread-\\d+|ForkJoinPool-\\d+-worker-\\d+)")
            .asMatchPredicate();

    /** Threads that the JVM, JUnit, Surefire and the shared cluster start once for the whole process. */
    private static final Predicate<String> ALLOWED = Pattern.compile(
                    "(ForkJoinPool\\.commonPool|junit-jupiter-timeout|surefire|flink-|mini-cluster-io"
                            + "|jobmanager-|Flink).*")
            .asMatchPredicate();

    /** Properties that the JVM, libraries and Stoker set once for the whole process. */
    private static final Predicate<String> OF_PROCESS = Pattern.compile(
                    "(user\\.timezone|io\\.netty\\..*|jetty\\.git\\.hash|sun\\.font\\..*"
                            + "|stoker\\.cache\\.process|stoker\\.own-process)")
            .asMatchPredicate();

    private final Set<Thread> threads = threads();
    private final Properties properties = (Properties) System.getProperties().clone();

    private Leftovers() {}

    /** Notes the state before a test. */
    static Leftovers before() {
        return new Leftovers();
    }

    /**
     * Returns a line for each kind of leftovers, with their names.
     *
     * @param patience how long threads may need to end
     */
    List<String> remove(Duration patience) throws Exception {
        List<String> found = removeAllButThreads();
        note(found, "threads", remaining(patience));
        return found;
    }

    /** As {@link #remove}, without a look at threads. */
    List<String> removeAllButThreads() throws Exception {
        List<String> found = new ArrayList<>();
        note(found, "jobs of the shared cluster", SharedFlink.cancelJobs());
        note(found, "topics of the shared broker", SharedKafka.deleteTopics(""));
        note(found, "system properties", restore());
        return found;
    }

    private static void note(List<String> found, String what, Collection<String> names) {
        if (!names.isEmpty()) {
            found.add(what + ": " + String.join(", ", names));
        }
    }

    private static Set<Thread> threads() {
        return new HashSet<>(Thread.getAllStackTraces().keySet());
    }

    private Collection<String> remaining(Duration patience) {
        long deadline = System.nanoTime() + patience.toNanos();
        while (true) {
            Set<String> names = new TreeSet<>();
            for (Thread thread : threads()) {
                if (isLeft(thread)) {
                    names.add(thread.getName());
                }
            }
            if (names.isEmpty() || System.nanoTime() > deadline) {
                return names;
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }

    private boolean isLeft(Thread thread) {
        return !threads.contains(thread)
                && !ServerThreads.contain(thread)
                && (!thread.isDaemon() || POOLS.test(thread.getName()))
                && !ALLOWED.test(thread.getName());
    }

    private Collection<String> restore() {
        Set<String> names = new TreeSet<>(properties.stringPropertyNames());
        names.addAll(System.getProperties().stringPropertyNames());
        names.removeIf(name ->
                Objects.equals(properties.getProperty(name), System.getProperty(name)) || OF_PROCESS.test(name));
        for (String name : names) {
            String value = properties.getProperty(name);
            if (value == null) {
                System.clearProperty(name);
            } else {
                System.setProperty(name, value);
            }
        }
        return names;
    }
}
