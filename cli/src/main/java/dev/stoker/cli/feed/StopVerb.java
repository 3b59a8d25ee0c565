package dev.stoker.cli.feed;

import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.running.FeedFile;
import dev.stoker.feeder.registry.FeedLock;
import dev.stoker.feeder.registry.StokerHome;
import dev.stoker.feeder.registry.StopRequest;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker stop}: ends a feed in good order. */
@Command(
        name = "stop",
        header = {"Example:", "  stoker stop photos"},
        description = "Ends a feed. First, the feed writes all acknowledged batches to the ledger.")
public final class StopVerb implements Callable<Integer> {

    private static final long POLL_MS = 200;
    /** How long a request may lie unread if no process has the feed's name. A shared directory can show it late. */
    private static final Duration UNREAD = Duration.ofSeconds(15);

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "NAME", description = "Name of the feed; stoker ps lists the names.")
    private String name;

    @Option(names = "--timeout", paramLabel = "TIME", description = "Maximum time to wait, such as 5m. Default: 60s.")
    private String timeout = "60s";

    private Duration limit = Duration.ZERO;

    @Override
    public Integer call() throws IOException, InterruptedException, ExecutionException {
        limit = Units.parseTime("--timeout", timeout);
        FeedFile feed = FeedFile.require(name);
        var out = spec.commandLine().getOut();
        if (feed.state() == FeedFile.State.ENDED) {
            out.println("feed " + name + " has already ended");
            return 0;
        }
        if (!feed.embedded()) {
            stopOnCluster(feed);
            out.println("feed " + name + " ended");
            return 0;
        }
        Optional<ProcessHandle> process = feed.process();
        if (process.isEmpty()) {
            out.println("feed " + name + " is gone: its process " + feed.pid() + " died");
            return 0;
        }
        process.get().destroy();
        try {
            process.get().onExit().get(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new CommandException(
                    "feed " + name + " (pid " + feed.pid() + ") has not ended within " + Units.time(limit)
                            + "; wait longer with --timeout, or force its end with kill -9: no acknowledged batch"
                            + " is lost");
        }
        out.println("feed " + name + " ended");
        return 0;
    }

    /**
     * Leaves a request for the feed's coordinator on this machine, and waits until the coordinator has published the
     * end.
     */
    private void stopOnCluster(FeedFile feed) throws IOException, InterruptedException {
        if (feed.state() == FeedFile.State.GONE) {
            throw new CommandException("feed " + name + " ran on a Flink cluster, but none of its feeders answers ("
                    + feed.addresses() + "): look for its job with flink list, and end it with flink cancel");
        }
        StopRequest.write(name, feed.id(), feed.startedMs());
        long askedMs = feed.startedMs();
        long began = System.nanoTime();
        try {
            for (FeedFile now = feed; now.state() != FeedFile.State.ENDED; now = FeedFile.require(name)) {
                if (now.startedMs() != askedMs && now.id().equals(feed.id())) {
                    // Another coordinator has taken over from the one that was asked, as after a failure of the job.
                    askedMs = now.startedMs();
                    StopRequest.write(name, feed.id(), askedMs);
                }
                Duration waited = Duration.ofNanos(System.nanoTime() - began);
                boolean isLate = waited.compareTo(limit) > 0;
                if ((isLate || waited.compareTo(UNREAD) > 0)
                        && StopRequest.isThere(name, feed.id(), askedMs)
                        && !FeedLock.isHeld(name)) {
                    throw withoutJobManager();
                }
                if (isLate) {
                    throw late(feed.id(), askedMs);
                }
                TimeUnit.MILLISECONDS.sleep(POLL_MS);
            }
        } finally {
            StopRequest.withdraw(name);
        }
    }

    private CommandException withoutJobManager() {
        return new CommandException("feed " + name + " has no JobManager: the process that wrote "
                + StokerHome.feedFile(name) + " has ended. If high availability starts another one, run stoker stop "
                + name + " then. If not, the feeders end on their own when they miss it (Flink's heartbeat.timeout),"
                + " and no acknowledged batch is lost");
    }

    private CommandException late(UUID id, long askedMs) throws IOException {
        String late = "feed " + name + " has not ended within " + Units.time(limit) + ": ";
        if (StopRequest.isThere(name, id, askedMs)) {
            return new CommandException(late
                    + "its JobManager has not read the request, because it is busy; wait longer with --timeout, or find"
                    + " the job with flink list and end it with flink stop");
        }
        return new CommandException(late + "its JobManager has accepted the request, but the job \"stoker feed " + name
                + "\" has not finished. It waits for a checkpoint, or restarts after a failure: look at its checkpoints"
                + " and exceptions on Flink's web page. Run stoker stop "
                + name + " again to wait longer, or end the job with flink cancel: no acknowledged batch is lost");
    }
}
