package dev.stoker.cli.bench;

import dev.stoker.bench.measure.Rounds;
import dev.stoker.bench.storage.ReadCase;
import dev.stoker.bench.storage.StorageBench;
import dev.stoker.bench.storage.StorageOptions;
import dev.stoker.bench.storage.StorageResult;
import dev.stoker.cli.output.Table;
import dev.stoker.schemas.text.Units;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker bench storage}: measures a store. */
@Command(
        name = "storage",
        header = {
            "Examples:",
            "  stoker bench storage ./data",
            "  stoker bench storage s3a://bucket/bench --size 64m --seconds 30",
            "  stoker bench storage ./data/photos --json > storage.json"
        },
        description = {
            "Measures reads of a directory, HDFS or S3. Measures sequential and random reads by block size and reads at"
                    + " a time, and metadata operations.",
            "Writes test files into a new folder of TARGET and removes them, also after Ctrl-C. Of a dataset, it reads"
                    + " the chunks and writes nothing."
        },
        sortOptions = false)
final class BenchStorageVerb implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "TARGET", description = "Directory or URI for test files, or a dataset.")
    private String target;

    @Option(names = "--size", paramLabel = "SIZE", description = "Size of the test files together. Default: 256m.")
    private String size = "256m";

    @Option(
            names = "--block-size",
            paramLabel = "SIZE",
            split = ",",
            splitSynopsisLabel = ",",
            description = "Bytes of one read, separated by commas. Default: 1k,4k,64k,1m,16m.")
    private List<String> blockSizes = List.of("1k", "4k", "64k", "1m", "16m");

    @Option(
            names = "--depth",
            paramLabel = "N",
            split = ",",
            splitSynopsisLabel = ",",
            description = "Reads at a time, each in a thread, separated by commas. Default: 1,4,16.")
    private List<Integer> depths = List.of(1, 4, 16);

    @Option(
            names = "--seconds",
            paramLabel = "N",
            description = "Time of all reads and metadata operations, without the writing of the test files."
                    + " Default: 60.")
    private double seconds = 60;

    @Mixin
    private BenchOptions options = new BenchOptions();

    @Override
    public Integer call() throws Exception {
        StorageOptions wanted = new StorageOptions(
                BenchOptions.size("--size", size),
                BenchOptions.sizes("--block-size", blockSizes),
                depths,
                options.rounds(),
                BenchOptions.seconds("--seconds", seconds));
        PrintWriter out = spec.commandLine().getOut();
        try (BenchRun run = new BenchRun(spec.commandLine().getErr())) {
            StorageResult result = new StorageBench(target, wanted, run).run();
            run.end();
            if (options.isJson()) {
                out.println(result.json(Instant.now(), run.loadBefore()));
            } else {
                print(result, out);
            }
        }
        return 0;
    }

    static void print(StorageResult result, PrintWriter out) {
        out.println(result.target() + ": "
                + Units.plural(result.files().count(), result.files().kind()) + ", "
                + Units.bytes(result.files().bytes())
                + (result.writeRate() > 0 ? ", written at " + Units.rate(result.writeRate()) : ""));
        out.println();
        Table reads = new Table("READS", "CACHE", "BLOCK", "DEPTH", "BYTES/S", "SPREAD", "READS/S", "P50", "P99");
        for (StorageResult.Read read : result.reads()) {
            ReadCase of = read.of();
            reads.add(
                    of.pattern().toString(),
                    of.cache().toString(),
                    StorageOptions.block(of.blockBytes()),
                    Integer.toString(of.depth()),
                    Units.rate(read.bytesPerSecond().median()),
                    spread(read.bytesPerSecond()),
                    Units.count(Math.round(read.bytesPerSecond().median() / of.blockBytes())),
                    time(read.p50Nanos()),
                    time(read.p99Nanos()));
        }
        reads.print(out);
        out.println();
        Table metadata = new Table("METADATA", "DEPTH", "PER SECOND", "SPREAD");
        for (StorageResult.Metadata operation : result.metadata()) {
            metadata.add(
                    operation.operation(),
                    Integer.toString(operation.depth()),
                    Units.count(Math.round(operation.perSecond().median())),
                    spread(operation.perSecond()));
        }
        metadata.print(out);
        out.println();
        result.notes().forEach(out::println);
    }

    /** The least and the greatest round relative to the median. */
    static String spread(Rounds rounds) {
        double median = rounds.median() == 0 ? 1 : rounds.median();
        return rounds.values().size() == 1
                ? "1 round"
                : String.format(
                        Locale.ROOT,
                        "-%.0f %% … +%.0f %%",
                        100 * (1 - rounds.min() / median),
                        100 * (rounds.max() / median - 1));
    }

    private static String time(long nanos) {
        return nanos < 1_000_000
                ? String.format(Locale.ROOT, "%.0f us", nanos / 1e3)
                : String.format(Locale.ROOT, "%.1f ms", nanos / 1e6);
    }
}
