package dev.stoker.cli.bench;

import dev.stoker.bench.demand.AcceleratorRun;
import dev.stoker.bench.demand.Accelerators;
import dev.stoker.bench.demand.Demand;
import dev.stoker.bench.demand.FedBatches;
import dev.stoker.bench.demand.Shape;
import dev.stoker.bench.demand.Shapes;
import dev.stoker.bench.measure.Machine;
import dev.stoker.cli.output.Table;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code stoker bench demand}: what accelerators ask for, and whether a feed meets it. */
@Command(
        name = "demand",
        header = {
            "Examples:",
            "  stoker bench demand",
            "  stoker bench demand --shape unet3d --accelerator a100 --accelerators 8",
            "  stoker bench demand --shape resnet50 --against ./data/photos"
        },
        description = {
            "Prints the samples and bytes a second that accelerators ask for. The workloads come"
                    + " from MLPerf Storage; a language model is added.",
            "With --against, emulated accelerators consume a feed: each takes batches and sleeps for the time of the"
                    + " computation. The result is the share of the time that they compute."
        },
        sortOptions = false)
final class BenchDemandVerb implements Callable<Integer> {

    /** Greatest relative difference of the sample's bytes that needs no note. */
    private static final double SAME_BYTES = 0.25;

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--shape",
            paramLabel = "SHAPE",
            split = ",",
            splitSynopsisLabel = ",",
            description = "Workloads, separated by commas: resnet50, unet3d, cosmoflow, retinanet, llm, or a workload"
                    + " file of DLIO or its keys as JSON. Default: all known.")
    private List<String> shapes = List.of();

    @Option(
            names = "--accelerator",
            paramLabel = "h100|a100|b200",
            description = "The kind of accelerator. Default: h100.")
    private String accelerator = "h100";

    @Option(names = "--accelerators", paramLabel = "N", description = "Number of accelerators. Default: 1.")
    private int accelerators = 1;

    @Option(
            names = "--against",
            paramLabel = "FEED",
            description = "Name or address of a running feed, or a dataset, for which a feeder is started.")
    private @Nullable String against;

    @Option(names = "--seconds", paramLabel = "N", description = "With --against: time for each workload. Default: 30.")
    private double seconds = 30;

    @Mixin
    private BenchOptions options = new BenchOptions();

    @Override
    public Integer call() throws Exception {
        Duration time = BenchOptions.seconds("--seconds", seconds);
        int rounds = options.rounds();
        List<Shape> wanted = new ArrayList<>();
        for (String shape : shapes) {
            wanted.add(Shapes.of(shape, accelerator));
        }
        if (wanted.isEmpty()) {
            wanted.addAll(Shapes.all(accelerator));
        }
        Demand demand = new Demand(wanted, accelerators, List.of(), List.of());
        double load = Machine.load();
        if (against != null) {
            demand = measure(demand, against, rounds, time);
        }
        PrintWriter out = spec.commandLine().getOut();
        if (options.isJson()) {
            out.println(demand.json(Instant.now(), load));
        } else {
            print(demand, out);
        }
        return 0;
    }

    private Demand measure(Demand demand, String feed, int rounds, Duration time) throws Exception {
        try (BenchRun run = new BenchRun(spec.commandLine().getErr())) {
            Demand measured = run.stoppable(() -> measure(demand, feed, rounds, time, run));
            run.end();
            return measured;
        }
    }

    private Demand measure(Demand demand, String feed, int rounds, Duration time, BenchRun run)
            throws IOException, InterruptedException {
        List<AcceleratorRun> runs = new ArrayList<>();
        List<String> notes = new ArrayList<>();
        run.doing("opening " + feed);
        // Its consumers are never away for long.
        try (BenchTarget target = BenchTarget.open(feed, demand.shapes().get(0).batchSize(), Duration.ZERO, run)) {
            for (Shape shape : demand.shapes()) {
                run.requireNotStopped();
                run.doing(shape.name() + ": " + Units.plural(accelerators, "emulated accelerator"));
                AcceleratorRun done = new Accelerators(shape, accelerators, rounds, time, run)
                        .run(feed, rank -> open(target, shape, rank));
                runs.add(done);
                if (Math.abs(done.sampleBytes() / shape.sampleBytes() - 1) > SAME_BYTES) {
                    notes.add(shape.name() + ": the samples of this feed have "
                            + Units.bytes((long) done.sampleBytes())
                            + " on average, the shape has " + Units.bytes((long) shape.sampleBytes())
                            + "; the utilization was measured with your samples");
                }
            }
        }
        Machine.note(run.loadBefore()).ifPresent(notes::add);
        return new Demand(demand.shapes(), demand.accelerators(), runs, notes);
    }

    private FedBatches open(BenchTarget target, Shape shape, int rank) throws IOException {
        return new FedBatches(target.client(
                "auto",
                "bench-" + shape.name() + "-" + accelerators,
                rank,
                accelerators,
                shape.batchSize(),
                shape.batchSize() * shape.sampleBytes()));
    }

    static void print(Demand demand, PrintWriter out) {
        Table table = new Table(
                "SHAPE", "ON", "BYTES A SAMPLE", "BATCH", "COMPUTES", "SAMPLES/S", "BYTES/S", "TOGETHER", "AT LEAST");
        for (Shape shape : demand.shapes()) {
            table.add(
                    shape.name(),
                    shape.accelerator(),
                    Units.bytes((long) shape.sampleBytes())
                            + (shape.deviation() > 0 ? " ± " + Units.bytes((long) shape.deviation()) : ""),
                    Integer.toString(shape.batchSize()),
                    String.format(Locale.ROOT, "%.1f ms", 1e3 * shape.computeSeconds()),
                    number(shape.samplesPerSecond()),
                    Units.rate(shape.bytesPerSecond()),
                    Units.rate(demand.accelerators() * shape.bytesPerSecond()),
                    String.format(Locale.ROOT, "%.0f %%", 100 * shape.utilization()));
        }
        table.print(out);
        if (!demand.runs().isEmpty()) {
            out.println();
            Table runs = new Table("SHAPE", "AGAINST", "N", "COMPUTING", "SPREAD", "WANTED", "SAMPLES/S", "BYTES/S");
            for (AcceleratorRun run : demand.runs()) {
                runs.add(
                        run.shape().name(),
                        run.target(),
                        Integer.toString(run.accelerators()),
                        String.format(
                                Locale.ROOT, "%.1f %%", 100 * run.utilization().median()),
                        BenchStorageVerb.spread(run.utilization()),
                        String.format(
                                Locale.ROOT,
                                "%.0f %% %s",
                                100 * run.shape().utilization(),
                                run.isMet() ? "met" : "missed"),
                        number(run.samplesPerSecond().median()),
                        Units.rate(run.bytesPerSecond().median()));
            }
            runs.print(out);
        }
        demand.notes().forEach(out::println);
    }

    private static String number(double value) {
        return value < 100 ? String.format(Locale.ROOT, "%.1f", value) : Units.count(Math.round(value));
    }
}
