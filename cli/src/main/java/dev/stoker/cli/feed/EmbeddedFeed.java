package dev.stoker.cli.feed;

import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.running.FeedFile;
import dev.stoker.feeder.FeedJob;
import dev.stoker.feeder.ledger.LedgerProgress;
import dev.stoker.feeder.plan.FeedNodes;
import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.feeder.plan.StartWarnings;
import dev.stoker.feeder.registry.FeedLock;
import dev.stoker.feeder.registry.StokerHome;
import dev.stoker.feeder.source.reader.StopSignal;
import dev.stoker.flink.launch.RunningJob;
import dev.stoker.server.FeedNode;
import dev.stoker.server.NodeLease;
import dev.stoker.server.feed.FeedStatus;
import dev.stoker.server.feed.ServerOptions;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A feed in this process: the same job as on a cluster, on Flink's embedded cluster. Only {@link #requestStop} may be
 * called by several threads.
 */
public final class EmbeddedFeed implements AutoCloseable {

    /** How long a feed may take to end cleanly. */
    private static final Duration STOP_PATIENCE = Duration.ofSeconds(60);

    private final AtomicLong stopAsked = new AtomicLong();
    private final FeedPlan plan;
    private final FeedLock lock;
    private final List<String> warnings;
    private final RunningJob job;
    private @Nullable NodeLease lease;
    private @Nullable FeedStatus last;
    private boolean closed;

    private EmbeddedFeed(
            FeedPlan plan, FeedLock lock, @Nullable NodeLease lease, List<String> warnings, RunningJob job) {
        this.plan = plan;
        this.lock = lock;
        this.lease = lease;
        this.warnings = warnings;
        this.job = job;
    }

    public static EmbeddedFeed start(FeedPlan plan) throws Exception {
        FeedLock lock = FeedLock.take(plan.name());
        NodeLease lease;
        List<String> warnings;
        try {
            // Opened before Flink starts, so that a used port is reported at once.
            ServerOptions options = plan.serverOptions();
            warnings = options.access().warnings(options.bind());
            lease = FeedNodes.open(plan);
        } catch (IOException | RuntimeException e) {
            lock.close();
            throw e;
        }
        System.setProperty(StokerHome.OWN_PROCESS, "true");
        StopSignal.clear(plan.id());
        return new EmbeddedFeed(plan, lock, lease, warnings, FeedJob.embedded(plan));
    }

    public FeedPlan plan() {
        return plan;
    }

    /** Says who is let in although that was perhaps not meant, and which streams are poorly shuffled. */
    public void warn(PrintWriter err) {
        Stream.of(warnings, StartWarnings.ofTrainers(plan))
                .flatMap(List::stream)
                .forEach(warning -> err.println("stoker: warning: " + warning));
    }

    /**
     * Waits until the feed serves trainers.
     *
     * @return the addresses of the servers
     */
    public String awaitReady(Duration limit) throws Exception {
        long deadline = System.nanoTime() + limit.toNanos();
        while (true) {
            Optional<FeedFile> file = FeedFile.find(plan.name());
            if (file.isPresent()
                    && file.get().state() == FeedFile.State.RUNNING
                    && file.get().pid() == ProcessHandle.current().pid()) {
                return file.get().addresses();
            }
            if (ended(Duration.ofMillis(20))) {
                throw new CommandException("the feed ended before it was ready");
            }
            if (System.nanoTime() > deadline) {
                throw new CommandException("the feed was not ready within " + limit.toSeconds() + " s");
            }
        }
    }

    /**
     * Waits for the end of the feed.
     *
     * @return whether it has ended
     * @throws Exception if it failed
     */
    public boolean ended(Duration limit) throws Exception {
        try {
            if (job.ended(limit)) {
                return true;
            }
            long asked = stopAsked.get();
            if (asked != 0 && System.nanoTime() - asked > STOP_PATIENCE.toNanos()) {
                // Only running tasks receive the request; tasks that are being restarted do not.
                throw new CommandException("the feed did not end within " + STOP_PATIENCE.toSeconds()
                        + " s of the request to stop"
                        + LedgerProgress.trouble(plan.id())
                                .map(why ->
                                        " (" + why + "); trainers repeat these receipts to the next start of the feed")
                                .orElse(""));
            }
            return false;
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    /** The feed's present status, or its last one. */
    Optional<FeedStatus> status() {
        if (lease != null) {
            last = lease.status();
        }
        return Optional.ofNullable(last);
    }

    /** The address of the feed's status page. */
    public Optional<String> statusUrl() {
        return lease == null ? Optional.empty() : lease.statusUrl();
    }

    /** Requests a clean end; any thread may call it. */
    void requestStop() {
        stopAsked.compareAndSet(0, System.nanoTime());
        StopSignal.of(plan.id()).request();
    }

    @Override
    public void close() throws IOException {
        try {
            end();
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while the feed was ending");
        } catch (Exception e) {
            throw new IOException(e);
        }
    }

    /** The coordinator records the feed's end after the job's result is available; the process must not exit before. */
    private void awaitFarewell() throws IOException, InterruptedException {
        long deadline = System.nanoTime() + Duration.ofSeconds(10).toNanos();
        while (System.nanoTime() < deadline) {
            Optional<FeedFile> file = FeedFile.find(plan.name());
            if (file.isEmpty() || file.get().state() != FeedFile.State.RUNNING) {
                return;
            }
            Thread.sleep(20);
        }
    }

    /**
     * Ends the feed and waits for it. A second call does nothing.
     *
     * @throws Exception if it failed
     */
    public void end() throws Exception {
        if (closed) {
            return;
        }
        closed = true;
        requestStop();
        try {
            while (!ended(Duration.ofSeconds(1))) {
                // Waits until the feed has ended or its time is up.
            }
            awaitFarewell();
        } finally {
            status();
            if (lease != null) {
                lease.close();
                lease = null;
            }
            FeedNode.closeAll();
            lock.close();
        }
    }
}
