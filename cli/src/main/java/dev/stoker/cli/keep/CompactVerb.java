package dev.stoker.cli.keep;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.ingest.IndexUpdate;
import dev.stoker.cli.options.FlinkOptions;
import dev.stoker.cli.options.ReadThreads;
import dev.stoker.cli.output.Columns;
import dev.stoker.cli.output.ReadProgress;
import dev.stoker.cli.output.Signals;
import dev.stoker.cli.samples.OpenDataset;
import dev.stoker.flink.arguments.OptionValues;
import dev.stoker.ingest.spec.TargetDataset;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.compaction.Compaction;
import dev.stoker.metadata.compaction.CompactionPlan;
import dev.stoker.metadata.compaction.CompactionResult;
import dev.stoker.metadata.compaction.CompactionRules;
import dev.stoker.metadata.compaction.CompactionThreads;
import dev.stoker.metadata.work.Workers;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.text.ShellText;
import dev.stoker.schemas.text.Units;
import dev.stoker.storage.Stores;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker compact}: rewrites small chunks into ones of the usual size, and commits them as one version. */
@Command(
        name = "compact",
        header = {"Examples:", "  stoker compact ./data/photos --dry-run", "  stoker compact ./data/photos"},
        description = {
            "Rewrites small chunks into chunks of the usual size. Also rewrites chunks that lost many samples to"
                    + " deletes. Reads the newest version, and commits one version with the same samples.",
            "Older versions and their files do not change."
        },
        sortOptions = false)
public final class CompactVerb implements Callable<Integer> {

    private static final int MOST_PACKERS = 4;

    private static final Columns<CompactionPlan.Split> COLUMNS = new Columns<CompactionPlan.Split>()
            .text("SPLIT", "split", CompactionPlan.Split::split)
            .key("kept", CompactionPlan.Split::chunks)
            .count("CHUNKS", "sources", CompactionPlan.Split::sources)
            .count("SAMPLES", "samples", CompactionPlan.Split::samples)
            .count("REMOVED", "removed_samples", CompactionPlan.Split::removedRows)
            .bytes("BYTES", "bytes", CompactionPlan.Split::bytes)
            .column("BECOME", "targets", CompactionPlan.Split::targets, chunks -> "about " + Units.count(chunks))
            .cell("AS THEY ARE", split -> Units.count(split.chunks()));

    /** The arrangement of samples in the new chunks. */
    enum Order {
        SHUFFLED,
        KEPT;

        /** As typed and as completed by a shell. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "DATASET", description = "Directory or URI of the dataset.")
    private String path;

    @Option(
            names = "--below",
            paramLabel = "SIZE",
            description = "Rewrite chunks with fewer live bytes. Default: half of --chunk-size.")
    private @Nullable String below;

    @Option(
            names = "--chunk-size",
            paramLabel = "SIZE",
            description = "Size of the new chunks, such as 8 MiB. A larger sample gets its own chunk. Default: the"
                    + " dataset's.")
    private @Nullable String chunkSize;

    @Option(
            names = "--order",
            paramLabel = "shuffled|kept",
            description = "Order of the samples in the new chunks: shuffled, or kept. Default: shuffled.")
    private Order order = Order.SHUFFLED;

    @Option(names = "--seed", paramLabel = "N", defaultValue = "0", description = "Seed of the shuffle. Default: 0.")
    private long seed;

    @Option(
            names = "--threads",
            paramLabel = "N",
            description = "Chunks to read at a time. Default: number of processors; at least 16 for HDFS, S3, ….")
    private @Nullable Integer threads;

    @Mixin
    private FlinkOptions flink = new FlinkOptions();

    @Option(
            names = "--ingest-id",
            paramLabel = "ID",
            description = "ID that commits at most one version; starts with compact-. Default: a random ID.")
    private @Nullable String ingestId;

    @Option(names = "--dry-run", description = "Print the plan, and write nothing.")
    private boolean dryRun;

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    @Override
    public Integer call() throws Exception {
        String ingest = ingestId == null ? VersionRequest.COMPACTION + UUID.randomUUID() : ingestId;
        if (!ingest.startsWith(VersionRequest.COMPACTION)) {
            throw new IllegalArgumentException(
                    "option --ingest-id: '" + ingest + "' must begin with " + VersionRequest.COMPACTION);
        }
        try (OpenDataset open = OpenDataset.open(path)) {
            LongAdder read = new LongAdder();
            Compaction compaction = compaction(open.dataset(), ingest, read::add);
            CompactionResult before = compaction.committed().orElse(null);
            if (before != null) {
                print(before, Duration.ZERO);
                return 0;
            }
            CompactionPlan plan = CompactionPlan.of(open.dataset().snapshot(), rules(open.dataset()));
            if (dryRun || plan.isEmpty()) {
                print(plan, ingest);
                return 0;
            }
            if (!json) {
                print(plan, ingest);
            }
            Stores.requireAtomicCreate(open.dataset().store());
            Compaction onCluster = flink.workers(open.location(), "stoker compact", threads, read, plan.bytes())
                    .map(workers -> compaction(open.dataset(), ingest, workers))
                    .orElse(compaction);
            int code = Signals.interrupting(() -> run(onCluster, plan, read), e -> {
                spec.commandLine()
                        .getErr()
                        .println("stoker: interrupted; run stoker log " + ShellText.word(path)
                                + " to see whether it was committed");
                return Signals.INTERRUPTED;
            });
            if (code == 0) {
                IndexUpdate.ofExisting(open, path, spec.commandLine().getErr());
            }
            return code;
        }
    }

    private Compaction compaction(Dataset dataset, String ingest, LongConsumer progress) {
        int processors = Runtime.getRuntime().availableProcessors();
        int reads = ReadThreads.of(threads, path);
        // By default direct memory is limited to the size of the heap.
        CompactionThreads work = new CompactionThreads(
                reads, Math.min(MOST_PACKERS, processors), Runtime.getRuntime().maxMemory() / 2);
        return new Compaction(dataset, ingest, System.getProperty("user.name"), InstantSource.system(), work, progress);
    }

    private static Compaction compaction(Dataset dataset, String ingest, Workers workers) {
        return new Compaction(
                dataset, ingest, System.getProperty("user.name"), InstantSource.system(), workers, bytes -> {});
    }

    private CompactionRules rules(Dataset dataset) {
        OptionalInt asked = chunkSize == null ? OptionalInt.empty() : OptionalInt.of(size("--chunk-size", chunkSize));
        int target = TargetDataset.chunkSizeBytes(dataset.info(), asked);
        return new CompactionRules(
                below == null ? Math.max(1, target / 2) : size("--below", below),
                target,
                order == Order.SHUFFLED ? OptionalLong.of(seed) : OptionalLong.empty());
    }

    private static int size(String option, String text) {
        long bytes = OptionValues.bytes(option, text);
        if (bytes < 1 || bytes > 1 << 30) {
            throw new IllegalArgumentException("option " + option + ": " + text + " is not between 1 byte and 1 GiB");
        }
        return (int) bytes;
    }

    private int run(Compaction compaction, CompactionPlan plan, LongAdder read) throws Exception {
        long began = System.nanoTime();
        PrintWriter err = spec.commandLine().getErr();
        try (ReadProgress watch = new ReadProgress(err, () -> progress(read.sum(), plan.bytes(), began))) {
            CompactionResult result = compaction.run(plan);
            watch.end();
            print(result, Duration.ofNanos(System.nanoTime() - began));
            return 0;
        }
    }

    private static String progress(long read, long total, long began) {
        double rate = read / ((System.nanoTime() - began) / 1e9);
        return "compacting: " + Units.bytes(read) + " of " + Units.bytes(total) + ", " + Units.rate(rate);
    }

    private void print(CompactionPlan plan, String ingest) {
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            ObjectNode root = Json.object();
            root.put("base_version", plan.version()).put("ingest", ingest);
            root.put("sources", plan.sources()).put("bytes", plan.bytes());
            COLUMNS.add(root.putArray("splits"), plan.splits());
            out.println(root);
            return;
        }
        if (plan.isEmpty()) {
            out.println("nothing to compact: no two chunks of version " + plan.version()
                    + " are below --below, and none" + " lost half of its samples");
            return;
        }
        COLUMNS.print(plan.splits(), out);
    }

    private void print(CompactionResult result, Duration time) {
        PrintWriter out = spec.commandLine().getOut();
        LogEntry entry = result.entry().orElse(null);
        if (json) {
            ObjectNode root = Json.object();
            root.put("version", entry == null ? null : entry.version());
            root.put("repeated", result.isRepeated()).put("left_out", result.leftOut());
            root.put("removed_chunks", entry == null ? 0 : entry.removed().size());
            root.put("added_chunks", entry == null ? 0 : entry.added().size());
            root.put("samples", entry == null ? 0 : entry.addedRows());
            root.put("seconds", time.toMillis() / 1e3);
            out.println(root);
            return;
        }
        if (entry == null) {
            out.println("nothing was committed: the number of chunks would not have decreased");
            return;
        }
        out.println((result.isRepeated() ? "version " + entry.version() + " was already committed: " : "")
                + Units.plural(entry.removed().size(), "chunk") + " became "
                + Units.count(entry.added().size()) + ", " + Units.plural(entry.addedRows(), "sample")
                + (result.isRepeated() ? "" : ", in " + Units.seconds(time) + ": version " + entry.version()));
        if (result.leftOut() > 0) {
            out.println(Units.plural(result.leftOut(), "chunk")
                    + (result.leftOut() == 1 ? " was" : " were")
                    + " not changed: other commits changed some meanwhile; run it again");
        }
    }
}
