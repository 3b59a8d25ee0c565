package dev.stoker.cli;

import java.io.IOException;
import java.util.Optional;
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
@Command(name = "stop", description = "Ends a feed: everything acknowledged goes to the ledger first.")
final class StopVerb implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "NAME", description = "Name of the feed, see stoker ps.")
    private String name;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "60",
            description = "How long to wait (default: 60).")
    private long timeoutSeconds;

    @Override
    public Integer call() throws IOException, InterruptedException, ExecutionException {
        FeedFile feed = FeedFile.require(name);
        var out = spec.commandLine().getOut();
        if (feed.state() == FeedFile.State.ENDED) {
            out.println("feed " + name + " has ended already");
            return 0;
        }
        if (!feed.embedded()) {
            throw new CommandException(
                    "feed " + name + " runs on a Flink cluster: find its job with flink list, end it with flink stop");
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
                            + " s; wait longer with --timeout, or end it hard with kill -9: no acknowledged batch is lost");
        }
        out.println("feed " + name + " ended");
        return 0;
    }
}
