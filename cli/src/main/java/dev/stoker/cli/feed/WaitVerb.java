package dev.stoker.cli.feed;

import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.running.FeedFile;
import dev.stoker.cli.running.FeederProbe;
import dev.stoker.feeder.registry.FeedRegister;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.security.Security;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker wait}: lets scripts and init containers start trainers when the feed is ready. */
@Command(
        name = "wait",
        header = {
            "Examples:",
            "  stoker wait photos && python train.py",
            "  stoker wait feeder-0:7420,feeder-1:7420 --timeout 120s"
        },
        description = "Waits until a feed serves trainers or writes its topic. Prints nothing on success.")
public final class WaitVerb implements Callable<Integer> {
    private static final int PAUSE_MS = 100;

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "FEED", description = "Name of the feed, or host:port[,host:port...] of its feeders.")
    private String feed;

    @Option(names = "--timeout", paramLabel = "TIME", description = "Maximum time to wait, such as 90s. Default: 10m.")
    private String timeout = "10m";

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (feed.indexOf(':') >= 0 && !feed.matches("[^:,\\s]+:[0-9]{1,5}(,[^:,\\s]+:[0-9]{1,5})*")) {
            throw new ParameterException(spec.commandLine(), "'" + feed + "' is not host:port[,host:port...]");
        }
        Duration limit = Units.parseTime("--timeout", timeout);
        // Resolves a host name again that the cluster has not published yet.
        Security.setProperty("networkaddress.cache.ttl", "1");
        Security.setProperty("networkaddress.cache.negative.ttl", "1");
        long deadline = System.nanoTime() + limit.toNanos();
        while (true) {
            List<String> addresses = addresses();
            if (writes()) {
                return 0;
            }
            if (addresses.stream().anyMatch(FeederProbe::answers)) {
                return 0;
            }
            if (System.nanoTime() >= deadline) {
                throw new CommandException("feed " + feed + " is not ready after " + Units.time(limit) + ": "
                        + (addresses.isEmpty()
                                ? "no feed of this name has started on this machine, see stoker ps"
                                : "no feeder answers at " + String.join(", ", addresses))
                        + "; check the feeder's log, or wait longer with --timeout");
            }
            Thread.sleep(PAUSE_MS);
        }
    }

    /** Whether the feed writes to a topic and has written its first records. */
    private boolean writes() throws IOException {
        if (feed.indexOf(':') >= 0
                || FeedFile.find(feed).filter(FeedFile::writesToTopic).isEmpty()) {
            return false;
        }
        return FeedRegister.findProgress(feed)
                .filter(progress -> progress.path("records").asLong() > 0)
                .isPresent();
    }

    private List<String> addresses() throws IOException {
        if (feed.indexOf(':') >= 0) {
            return Arrays.asList(feed.split(","));
        }
        Optional<FeedFile> file = FeedFile.find(feed);
        return file.map(FeedFile::addressList).orElse(List.of());
    }
}
