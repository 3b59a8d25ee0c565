package dev.stoker.cli.ingest;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.options.FlinkOptions;
import dev.stoker.cli.options.ReadThreads;
import dev.stoker.cli.output.Errors;
import dev.stoker.cli.redis.RedisAddresses;
import dev.stoker.cli.samples.OpenDataset;
import dev.stoker.cli.samples.RedisOption;
import dev.stoker.flink.work.FlinkWorkers;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.index.IndexCheck;
import dev.stoker.metadata.index.build.BuildThreads;
import dev.stoker.metadata.index.build.IndexBuild;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.text.ShellText;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker index}: builds, rebuilds or checks the sample index. */
@Command(
        name = "index",
        header = {"Examples:", "  stoker index ./data/photos", "  stoker index ./data/photos --check"},
        description = {
            "Updates the sample index, which finds samples by key. stoker ingest does so after its commit; Python"
                    + " writers, topic ingests and SQL do not.",
            "The index is derived from the chunks: without it, readers give the same answers, only slower."
        },
        sortOptions = false)
public final class IndexVerb implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "DATASET", description = "Directory or URI of the dataset.")
    private String path;

    @Option(names = "--rebuild", description = "Write the whole index again, from the heads of all chunks.")
    private boolean rebuild;

    @Option(
            names = "--check",
            description =
                    "Compare the index with the heads of all chunks, and change nothing. Exits with 1 if they differ.")
    private boolean check;

    @Option(
            names = "--threads",
            paramLabel = "N",
            description = "Chunks to read at a time. Default: number of processors; at least 16 for HDFS, S3, ….")
    private @Nullable Integer threads;

    @Mixin
    private FlinkOptions flink = new FlinkOptions();

    @Mixin
    private RedisOption redis = new RedisOption();

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    @Override
    public Integer call() throws Exception {
        if (rebuild && check) {
            throw new IllegalArgumentException("--rebuild and --check exclude each other");
        }
        int count = ReadThreads.of(threads, path);
        try (OpenDataset open = OpenDataset.open(path)) {
            if (check) {
                return check(open.dataset(), open.snapshot());
            }
            LongAdder read = new LongAdder();
            long began = System.nanoTime();
            Optional<FlinkWorkers> workers = flink.workers(
                    open.location(),
                    "stoker index",
                    threads,
                    read,
                    open.snapshot().table().liveRows());
            IndexBuild.Result result = workers.isPresent()
                    ? run(new IndexBuild(open.dataset(), workers.get(), rows -> {}), rebuild)
                    : build(open.dataset(), count, rebuild);
            Optional<RedisAddresses.Loaded> loaded = load(open, count);
            print(result, loaded, Duration.ofNanos(System.nanoTime() - began));
            return 0;
        }
    }

    /** Builds the index with a pool of threads. */
    public static IndexBuild.Result build(Dataset dataset, int threads, boolean fromScratch)
            throws IOException, InterruptedException {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            BuildThreads work = new BuildThreads(pool, threads, BuildThreads.defaultMemory());
            return run(new IndexBuild(dataset, work, read -> {}), fromScratch);
        } finally {
            pool.shutdownNow();
        }
    }

    private static IndexBuild.Result run(IndexBuild build, boolean fromScratch)
            throws IOException, InterruptedException {
        return fromScratch ? build.rebuild() : build.update();
    }

    private void print(IndexBuild.Result result, Optional<RedisAddresses.Loaded> loaded, Duration time) {
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            ObjectNode root = Json.object();
            root.put("version", result.version()).put("rows", result.rows());
            root.put("runs", result.runs()).put("written", result.written());
            result.replaced().forEach(root.putArray("replaced")::add);
            loaded.ifPresent(places -> root.put("loaded", places.samples()));
            out.println(root.put("seconds", time.toMillis() / 1e3));
            return;
        }
        result.replaced().forEach(message -> out.println("replaced: " + message));
        out.println("version " + result.version() + ": " + Units.plural(result.rows(), "row") + " in "
                + Units.plural(result.runs(), "run") + ", " + Units.count(result.written()) + " written in "
                + Units.seconds(time));
        loaded.ifPresent(places -> out.println("loaded into Redis: " + Units.plural(places.samples(), "place") + " of "
                + Units.plural(places.chunks(), "chunk")));
    }

    /** Loads the places that the Redis server lacks, if there is a server. */
    private Optional<RedisAddresses.Loaded> load(OpenDataset open, int count) throws IOException, InterruptedException {
        Dataset dataset = open.dataset();
        Optional<RedisAddresses> places = redis.open(dataset);
        if (places.isEmpty()) {
            return Optional.empty();
        }
        try (RedisAddresses opened = places.get()) {
            if (rebuild) {
                opened.forget();
            }
            Snapshot snapshot = dataset.snapshot();
            // The index has used the same slots before.
            Optional<FlinkWorkers> workers = flink.workers(
                    open.location(),
                    "stoker index --redis",
                    threads,
                    new LongAdder(),
                    snapshot.table().liveRows(),
                    RedisOption.jars());
            return Optional.of(
                    workers.isPresent() ? opened.load(snapshot, workers.get()) : opened.load(dataset, snapshot, count));
        }
    }

    private int check(Dataset dataset, Snapshot snapshot) throws IOException {
        IndexCheck.Report report = new IndexCheck(dataset, snapshot, read -> {}).run();
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            ObjectNode root = Json.object();
            root.put("version", report.version()).put("runs", report.runs());
            root.put("samples", report.samples()).put("chunks_without_run", report.chunksWithoutRun());
            root.put("differences", report.differences());
            report.problems().forEach(root.putArray("problems")::add);
            out.println(root);
        } else {
            report.problems().forEach(out::println);
            out.println("version " + report.version() + ": " + Units.plural(report.samples(), "sample") + " compared, "
                    + (report.differences() == 0
                            ? "no difference"
                            : Units.plural(report.differences(), "difference") + "; build the index again with: stoker"
                                    + " index " + ShellText.word(path) + " --rebuild"));
            if (report.chunksWithoutRun() > 0) {
                out.println(Units.plural(report.chunksWithoutRun(), "chunk")
                        + (report.chunksWithoutRun() == 1 ? " is" : " are")
                        + " not in the index; add with: stoker index " + ShellText.word(path));
            }
        }
        return report.differences() == 0 ? 0 : Errors.FAILED;
    }
}
