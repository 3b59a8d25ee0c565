package dev.stoker.cli.bench;

import dev.stoker.bench.demand.FedBatches;
import dev.stoker.bench.feed.FeedBench;
import dev.stoker.bench.feed.FeedResult;
import dev.stoker.bench.feed.PlainStream;
import dev.stoker.cli.output.Table;
import dev.stoker.schemas.text.Units;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker bench feed}: measures a feeder and a consumer on this machine. */
@Command(
        name = "feed",
        header = {"Examples:", "  stoker bench feed ./data/photos", "  stoker bench feed photos --json > feed.json"},
        description = {
            "Measures what a feeder and one consumer reach on this machine. Measures the first epoch, and later epochs"
                    + " over TCP, over a Unix-domain socket and with local reads, with the processor time of both.",
            "A plain stream of the same bytes is the ceiling. It has no order, no frames and, unless its name says so,"
                    + " no checksum."
        },
        sortOptions = false)
final class BenchFeedVerb implements Callable<Integer> {

    private static final String GROUP = "bench";
    /** Of a batch, as {@code stoker feed} accepts it. */
    private static final int MOST_SAMPLES = 65_535;

    @Spec
    private CommandSpec spec;

    @Parameters(
            paramLabel = "FEED",
            description = "Name or address of a running feed, or a dataset, for which a feeder is started.")
    private String target;

    @Option(names = "--batch-size", paramLabel = "N", description = "Samples of a batch. Default: 64.")
    private int batchSize = 64;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            description = "Time of the measurement, without the start of the feeder. Default: 60.")
    private double seconds = 60;

    @Mixin
    private BenchOptions options = new BenchOptions();

    @Override
    public Integer call() throws Exception {
        Duration time = BenchOptions.seconds("--seconds", seconds);
        if (batchSize < 1 || batchSize > MOST_SAMPLES) {
            throw new IllegalArgumentException(
                    "option --batch-size: " + batchSize + " is not between 1 and " + MOST_SAMPLES);
        }
        PrintWriter out = spec.commandLine().getOut();
        try (BenchRun run = new BenchRun(spec.commandLine().getErr())) {
            int rounds = options.rounds();
            FeedResult result = run.stoppable(() -> measure(target, batchSize, rounds, time, run));
            run.end();
            if (options.isJson()) {
                out.println(result.json(Instant.now(), run.loadBefore()));
            } else {
                print(result, out);
            }
        }
        return 0;
    }

    static FeedResult measure(String target, int batchSize, int rounds, Duration time, BenchRun run) throws Exception {
        run.doing("opening " + target);
        try (BenchTarget feed = BenchTarget.open(target, batchSize, time, run);
                BenchSender sender = BenchSender.of(target);
                PlainStream plain = sender.start()) {
            FeedBench bench = new FeedBench(
                    target,
                    transport -> new FedBatches(feed.client(transport, GROUP, 0, 1, batchSize, 0)),
                    feed.process(),
                    plain,
                    run);
            return bench.run(feed.start(), rounds, time);
        }
    }

    static void print(FeedResult result, PrintWriter out) {
        FeedResult.Stream stream = result.stream();
        out.println(result.target() + ": " + Units.plural(stream.samples(), "sample") + " of "
                + Units.bytes(Math.round(stream.sampleBytes())) + " on average, batches of " + stream.batchSize());
        FeedResult.First first = result.first();
        String start = first.start()
                .map(started -> String.format(Locale.ROOT, "; the feeder served after %.1f s", started.seconds()))
                .orElse("");
        long repeated = first.repeated(stream);
        out.println(first.name() + ": " + Units.plural(first.samples(), "sample")
                + (repeated > 0 ? " (" + Units.count(repeated) + " repeated to fill batches)" : "") + " in "
                + String.format(Locale.ROOT, "%.1f s", first.seconds()) + ", "
                + Units.count(Math.round(first.samplesPerSecond())) + " samples/s, "
                + Units.rate(first.bytesPerSecond()) + start);
        out.println();
        Table table = new Table(
                "LATER EPOCHS", "OVER", "SAMPLES/S", "BYTES/S", "SPREAD", "OF PLAIN", "CONSUMER CPU", "SENDER CPU");
        for (FeedResult.Measured system : result.systems()) {
            double rate = system.bytesPerSecond().median();
            double plain = plain(result, system.transport());
            table.add(
                    system.system(),
                    system.transport(),
                    system.samplesPerSecond().max() > 0
                            ? Units.count(Math.round(system.samplesPerSecond().median()))
                            : "",
                    Units.rate(rate),
                    BenchStorageVerb.spread(system.bytesPerSecond()),
                    plain > 0 ? String.format(Locale.ROOT, "%.2f", rate / plain) : "",
                    String.format(Locale.ROOT, "%.3f s/GB", system.consumerCpu().median()),
                    system.senderCpu().max() > 0
                            ? String.format(
                                    Locale.ROOT, "%.3f s/GB", system.senderCpu().median())
                            : "");
        }
        table.print(out);
        out.println();
        out.println("memory: all processors copy "
                + Units.rate(result.memoryCopy().median()) + " (" + BenchStorageVerb.spread(result.memoryCopy()) + ")");
        result.notes().forEach(out::println);
    }

    /** The ceiling of a transport; local reads are over a Unix-domain socket. */
    private static double plain(FeedResult result, String transport) {
        return result.systems().stream()
                .filter(system -> system.system().equals(FeedResult.PLAIN)
                        && system.transport().equals("tcp") == transport.equals("tcp"))
                .mapToDouble(system -> system.bytesPerSecond().median())
                .findFirst()
                .orElse(0);
    }
}
