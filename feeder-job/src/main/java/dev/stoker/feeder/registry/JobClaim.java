package dev.stoker.feeder.registry;

import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The claim of a job's coordinator on the name of its feed. A feed in a process of its own needs none, because the
 * command holds the {@link FeedLock} for it. Thread-safe.
 */
public final class JobClaim implements AutoCloseable {
    private static final String UNKNOWN = "unknown";

    private final String name;
    private final String job;
    private @Nullable FeedLock lock;
    private boolean closed;

    /**
     * A claim that is not made yet.
     *
     * @param name of the feed
     * @param variables of the coordinator's metrics, which include the id of its job
     */
    public JobClaim(String name, Map<String, String> variables) {
        this.name = name;
        this.job = variables.getOrDefault("<job_id>", UNKNOWN);
    }

    /**
     * Claims the name. A suspended coordinator of the same job, which this one replaces, is not another feed.
     *
     * @throws FeedRunningException if another feed has the name
     */
    public synchronized void make() throws IOException {
        if (closed || lock != null || Boolean.getBoolean(StokerHome.OWN_PROCESS)) {
            return;
        }
        lock = FeedLock.tryTake(name, job).orElse(null);
        if (lock == null && (job.equals(UNKNOWN) || !FeedLock.isOf(name, job))) {
            throw FeedLock.running(name);
        }
    }

    @Override
    public synchronized void close() throws IOException {
        closed = true;
        if (lock != null) {
            lock.close();
        }
    }
}
