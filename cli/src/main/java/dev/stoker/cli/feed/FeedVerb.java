package dev.stoker.cli.feed;

import dev.stoker.cli.output.Signals;
import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.feeder.topic.TopicFeedOptions;
import dev.stoker.feeder.topic.TopicFeedPlan;
import dev.stoker.schemas.text.Units;
import dev.stoker.server.feed.FeedStatus;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code stoker feed}: serves datasets to trainers until the feed is stopped. */
@Command(
        name = "feed",
        header = {
            "Examples:",
            "  stoker feed ./data/photos --batch-size 64",
            "  stoker feed s3a://bucket/photos --bind 0.0.0.0 --token-file token.txt",
            "  stoker feed ./data/photos --to kafka --bootstrap broker:9092 \\",
            "      --topic photos --world-size 8 --epochs 10"
        },
        description =
                "Serves datasets to trainers. Runs until you stop it, all epochs are finished, or no trainer connects."
                        + " With --to kafka, writes a dataset's batches to a topic.",
        customSynopsis = "stoker feed STREAM… [OPTION]…",
        sortOptions = false)
public final class FeedVerb implements Callable<Integer> {

    private final List<String> arguments;

    @Spec
    private CommandSpec spec;

    /** @param arguments of the job */
    public FeedVerb(List<String> arguments) {
        this.arguments = List.copyOf(arguments);
    }

    @Override
    public Integer call() throws Exception {
        PrintWriter out = spec.commandLine().getOut();
        String[] args = arguments.toArray(new String[0]);
        if (TopicFeedOptions.wanted(args)) {
            return TopicFeed.run(
                    TopicFeedPlan.of(TopicFeedOptions.parse(args)),
                    out,
                    spec.commandLine().getErr());
        }
        FeedPlan resolved = FeedPlan.of(TopicFeedOptions.parseServed(args));
        spec.commandLine().getErr().println("stoker: starting the feed …");
        long began = System.nanoTime();
        try (EmbeddedFeed feed = EmbeddedFeed.start(resolved);
                Signals signals = new Signals()) {
            signals.onStop(feed::requestStop);
            feed.warn(spec.commandLine().getErr());
            String addresses = feed.awaitReady(Duration.ofSeconds(60));
            out.println("ready at " + addresses + ": feed " + feed.plan().name() + " after "
                    + Units.seconds(Duration.ofNanos(System.nanoTime() - began)));
            FeedText.describe(feed.plan(), out);
            feed.status().ifPresent(status -> FeedText.tiers(status).forEach(out::println));
            out.println("in Python: for batch in stoker.Feed(\"" + feed.plan().name() + "\"): …"
                    + "   (end with Ctrl-C or stoker stop " + feed.plan().name() + ")");
            feed.statusUrl()
                    .ifPresent(url -> out.println("watch it at " + url + "   (or stoker top "
                            + feed.plan().name() + ")"));
            while (!feed.ended(Duration.ofSeconds(1))) {
                // The main thread only waits.
            }
            Optional<FeedStatus> status = feed.status();
            status.ifPresent(s -> FeedText.print(s, Duration.ofNanos(System.nanoTime() - began), out));
        }
        return 0;
    }
}
