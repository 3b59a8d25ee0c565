package dev.stoker.cli;

import dev.stoker.feeder.registry.StopRequest;
import java.io.IOException;
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
        description = "Ends a feed after writing all acknowledged batches to the ledger.")
final class StopVerb implements Callable<Integer> {

    private static final long POLL_MS = 200;

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "NAME", description = "Name of the feed; stoker ps lists the names.")
    private String name;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "60",
            description = "Maximum time to wait. Default: 60.")
    private long timeoutSeconds;

    @Override
    public Integer call() throws IOException, InterruptedException, ExecutionException {
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
            process.get().onExit().get(timeoutSeconds, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new CommandException(
                    "feed " + name + " (pid " + feed.pid() + ") has not ended within " + timeoutSeconds
                            + " s; wait longer with --timeout, or force its end with kill -9: no acknowledged batch"
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
        long endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(timeoutSeconds);
        try {
            for (FeedFile now = feed; now.state() != FeedFile.State.ENDED; now = FeedFile.require(name)) {
                if (now.startedMs() != askedMs && now.id().equals(feed.id())) {
                    // Another coordinator has taken over from the one that was asked, as after a failure of the job.
                    askedMs = now.startedMs();
                    StopRequest.write(name, feed.id(), askedMs);
                }
                if (System.nanoTime() - endNanos > 0) {
                    throw late(feed.id(), askedMs);
                }
                TimeUnit.MILLISECONDS.sleep(POLL_MS);
            }
        } finally {
            StopRequest.withdraw(name);
        }
    }

    private CommandException late(UUID id, long askedMs) throws IOException {
        String late = "feed " + name + " has not ended within " + timeoutSeconds + " s: ";
        if (StopRequest.isThere(name, id, askedMs)) {
            return new CommandException(late + "its JobManager has not read the request, because it is on another"
                    + " machine or busy; wait longer with --timeout, or find the job with flink list and end it with"
                    + " flink stop");
        }
        return new CommandException(late + "its JobManager has accepted the request, but the job \"stoker feed " + name
                + "\" has not finished. It waits for a checkpoint, or restarts after a failure: look at its checkpoints"
                + " and exceptions on Flink's web page. Run stoker stop "
                + name + " again to wait longer, or end the job with flink cancel: no acknowledged batch is lost");
    }
}
