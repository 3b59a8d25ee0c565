package dev.stoker.cli.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import dev.stoker.bench.demand.Shape;
import dev.stoker.bench.demand.Shapes;
import dev.stoker.bench.feed.FeedResult;
import dev.stoker.bench.report.Measurements;
import dev.stoker.bench.report.Report;
import dev.stoker.bench.report.ReportPage;
import dev.stoker.bench.report.RooflineChart;
import dev.stoker.bench.report.Verdict;
import dev.stoker.bench.storage.StorageBench;
import dev.stoker.bench.storage.StorageOptions;
import dev.stoker.bench.storage.StorageResult;
import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.output.Errors;
import dev.stoker.cli.samples.OpenDataset;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker bench report}: one page of all measurements. */
@Command(
        name = "report",
        header = {
            "Examples:",
            "  stoker bench report --dataset ./data/photos",
            "  stoker bench report storage.json feed.json demand.json -o bench.html"
        },
        description = {
            "Writes a page that shows which resource is the limit. It has a roofline, how many accelerators the feed"
                    + " keeps busy, what to change, and a sizing.",
            "Reads the results of the other measurements, or with --dataset measures storage and feed first. The page"
                    + " needs no network. The picture is also written as SVG and PNG."
        },
        sortOptions = false)
final class BenchReportVerb implements Callable<Integer> {

    private static final List<Integer> BLOCKS = List.of(1 << 10, 4 << 10, 64 << 10, 1 << 20, 4 << 20);
    private static final List<Integer> DEPTHS = List.of(1, 4, 16);
    private static final int MOST_GBIT = 1_000_000;

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "FILE", arity = "0..*", description = "Results: the output of the others with --json.")
    private List<Path> files = List.of();

    @Option(names = "--dataset", paramLabel = "DATASET", description = "Measure this dataset, and its storage, first.")
    private @Nullable String dataset;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description = "The page to write; an existing one is replaced. Default: stoker-bench.html.")
    private Path output = Path.of("stoker-bench.html");

    @Option(
            names = "--network",
            paramLabel = "GBIT",
            description = "Gbit/s of the network between feeder and trainers. Default: the loopback as measured.")
    private @Nullable Double network;

    @Option(names = "--accelerator", paramLabel = "h100|a100|b200", description = "For the demand. Default: h100.")
    private String accelerator = "h100";

    @Option(names = "--accelerators", paramLabel = "N", description = "Number of them in the sizing. Default: 8.")
    private int accelerators = 8;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            description = "With --dataset: time of both measurements together. Default: 120.")
    private double seconds = 120;

    @Mixin
    private BenchOptions options = new BenchOptions();

    @Override
    public Integer call() throws Exception {
        if (files.isEmpty() == (dataset == null)) {
            throw new IllegalArgumentException("give either results or --dataset");
        }
        if (accelerators < 1) {
            throw new IllegalArgumentException("option --accelerators: " + accelerators + " must be positive");
        }
        if (network != null && !(network > 0 && network <= MOST_GBIT)) {
            throw new IllegalArgumentException(
                    "option --network: " + network + " Gbit/s is not more than 0 and at most " + MOST_GBIT);
        }
        List<Shape> shapes = Shapes.all(accelerator);
        requireWritable();
        List<Measurements.Source> sources = new ArrayList<>();
        for (Path file : files) {
            read(file).forEach(result -> sources.add(new Measurements.Source(file.toString(), result)));
        }
        if (dataset != null) {
            measure(dataset, sources);
        }
        Measurements findings = Measurements.of(sources);
        Report report = Report.of(
                findings,
                shapes,
                network == null ? OptionalDouble.empty() : OptionalDouble.of(network * 1e9 / 8),
                accelerators,
                datasetBytes(findings));
        if (options.isJson()) {
            spec.commandLine().getOut().println(report.json());
        }
        write(report);
        return 0;
    }

    /** Returns all results in a file, because {@code cat} joins files. */
    private static List<JsonNode> read(Path file) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new CommandException("there is no file " + file);
        }
        try (MappingIterator<JsonNode> results =
                Json.PLAIN.readerFor(JsonNode.class).readValues(Files.readAllBytes(file))) {
            List<JsonNode> all = results.readAll();
            if (all.isEmpty()) {
                throw new CommandException(file + " has no result; expected the output of stoker bench … --json");
            }
            return all;
        } catch (JsonProcessingException e) {
            throw new CommandException(
                    file + " is not JSON; expected the output of stoker bench … --json", Errors.FAILED, e);
        }
    }

    /** Refuses what would fail after minutes of measurement. */
    private void requireWritable() throws CommandException {
        Path directory = output.toAbsolutePath().normalize().getParent();
        if (directory == null || Files.isDirectory(output)) {
            throw new CommandException(
                    output + " is a directory; give a file, for example -o " + output.resolve("stoker-bench.html"));
        }
        if (!Files.isDirectory(directory)) {
            throw new CommandException("there is no directory " + directory + " for the page; create it");
        }
        if (!Files.isWritable(Files.exists(output) ? output : directory)) {
            throw new CommandException("not allowed to write " + output + "; give another file with -o");
        }
        for (Path file : files) {
            if (file.toAbsolutePath().normalize().equals(output.toAbsolutePath().normalize())) {
                throw new CommandException(output + " is also a result; give another file with -o");
            }
        }
    }

    private void measure(String stream, List<Measurements.Source> sources) throws Exception {
        Duration time = BenchOptions.seconds("--seconds", seconds).dividedBy(2);
        StorageOptions wanted =
                new StorageOptions(BLOCKS.get(BLOCKS.size() - 1), BLOCKS, DEPTHS, options.rounds(), time);
        String path = FeedResult.dataset(stream);
        OpenDataset.open(path).close();
        try (BenchRun run = new BenchRun(spec.commandLine().getErr())) {
            StorageResult storage = new StorageBench(path, wanted, run).run();
            run.requireNotStopped();
            FeedResult feed = run.stoppable(() -> BenchFeedVerb.measure(stream, 64, options.rounds(), time, run));
            run.end();
            Instant now = Instant.now();
            sources.add(save("storage", storage.json(now, run.loadBefore())));
            sources.add(save("feed", feed.json(now, run.loadBefore())));
        }
    }

    /** Keeps a result, so that the page can be written again. */
    private Measurements.Source save(String kind, JsonNode result) throws IOException {
        Path file = beside("-" + kind + ".json");
        Files.writeString(file, result + "\n");
        return new Measurements.Source(file.toString(), result);
    }

    private Path beside(String ending) {
        String name = output.getFileName().toString().replaceFirst("\\.html?$", "");
        return output.resolveSibling(name + ending);
    }

    private static double datasetBytes(Measurements findings) {
        return findings.feeds().stream()
                .mapToDouble(feed -> feed.path("samples").asDouble()
                        * feed.path("sample_bytes").asDouble())
                .max()
                .orElse(0);
    }

    private void write(Report report) throws IOException {
        PrintWriter err = spec.commandLine().getErr();
        PrintWriter out = options.isJson() ? err : spec.commandLine().getOut();
        List<Path> written = new ArrayList<>(List.of(output, beside(".svg")));
        Files.writeString(output, ReportPage.html(report));
        Files.writeString(beside(".svg"), RooflineChart.svg(report.roofline(), report.shapes()));
        try {
            Files.write(beside(".png"), RooflineChart.png(report.roofline(), report.shapes()));
            written.add(beside(".png"));
        } catch (IOException e) {
            err.println("stoker: warning: no PNG: " + e.getMessage());
        }
        report.findings().note().ifPresent(note -> err.println("stoker: warning: " + note));
        out.println(report.headline());
        for (Verdict verdict : report.verdicts()) {
            out.println(verdict.point().name() + ": "
                    + Units.rate(verdict.point().bytesPerSecond()) + ". " + verdict.text() + " " + verdict.advice());
        }
        for (Report.Supply supply : report.supplies()) {
            if (!supply.isEstimate()) {
                out.println(supply.shape().name() + ", " + supply.shape().accelerator() + ": no estimate from "
                        + supply.from() + "; measure a dataset with such samples");
                continue;
            }
            out.println(supply.shape().name() + ", " + supply.shape().accelerator() + ": keeps "
                    + Units.plural(supply.accelerators(), "accelerator") + " busy at least "
                    + Math.round(100 * supply.shape().utilization()) + " % of the time (estimated from "
                    + supply.from() + ")");
        }
        out.println("wrote "
                + String.join(", ", written.stream().map(Path::toString).toList()));
    }
}
