package dev.stoker.cli.keep;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.options.FlinkOptions;
import dev.stoker.cli.options.OwnFlags;
import dev.stoker.cli.options.ReadThreads;
import dev.stoker.cli.output.ReadProgress;
import dev.stoker.cli.samples.OpenDataset;
import dev.stoker.flink.work.FlinkWorkers;
import dev.stoker.metadata.index.build.BuildThreads;
import dev.stoker.metadata.rebuild.Rebuild;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.text.ShellText;
import dev.stoker.schemas.text.Units;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.io.PrintWriter;
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

/** {@code stoker rebuild}: makes a new log for a dataset of which only the chunks are left. */
@Command(
        name = "rebuild",
        header = {
            "Examples:",
            "  stoker rebuild ./data/photos --dry-run",
            "  stoker rebuild s3a://bucket/photos --threads 64"
        },
        description = {
            "Makes a new log for a dataset that has lost its whole log. Also makes a new chunk table and sample index."
                    + " Reads the heads of the chunks, and no payload.",
            "Deletes nothing, and refuses a dataset that has a log: stoker recover repairs it. Do not run an ingest at"
                    + " the same time."
        },
        sortOptions = false)
public final class RebuildVerb implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "DATASET", description = "Directory or URI of the dataset.")
    private String path;

    @Option(names = "--dry-run", description = "Read the chunks and print the result, and write nothing.")
    private boolean dryRun;

    @Option(names = OwnFlags.NO_INDEX, description = "Do not build the sample index; stoker index does so later.")
    private boolean noIndex;

    @Option(
            names = "--threads",
            paramLabel = "N",
            description = "Chunks to read at a time. Default: number of processors; at least 16 for HDFS, S3, ….")
    private @Nullable Integer threads;

    @Mixin
    private FlinkOptions flink = new FlinkOptions();

    @Option(names = OwnFlags.JSON, description = "Print JSON, on one line.")
    private boolean json;

    @Override
    public Integer call() throws IOException, InterruptedException {
        int count = ReadThreads.of(threads, path);
        PrintWriter out = spec.commandLine().getOut();
        LongAdder read = new LongAdder();
        ExecutorService pool = Executors.newFixedThreadPool(count);
        try (ObjectStore store = OpenDataset.store(path);
                ReadProgress progress = new ReadProgress(
                        spec.commandLine().getErr(), () -> "reading: " + Units.plural(read.sum(), "chunk"));
                Rebuild rebuild = plan(store, pool, count, read)) {
            progress.end();
            if (!dryRun) {
                Stores.requireAtomicCreate(store);
                rebuild.apply();
                if (!noIndex) {
                    rebuild.index();
                }
            }
            if (json) {
                out.println(toJson(rebuild));
            } else {
                print(rebuild, out);
            }
            return 0;
        } finally {
            pool.shutdownNow();
        }
    }

    private Rebuild plan(ObjectStore store, ExecutorService pool, int count, LongAdder read)
            throws IOException, InterruptedException {
        // The number of chunks is not known before they are listed, so pieces that are done are not counted.
        Optional<FlinkWorkers> workers =
                flink.workers(Stores.normalize(path), "stoker rebuild", threads, new LongAdder(), 0);
        return workers.isPresent()
                ? Rebuild.plan(store, workers.get(), read::add)
                : Rebuild.plan(store, new BuildThreads(pool, count, BuildThreads.defaultMemory()), read::add);
    }

    private void print(Rebuild rebuild, PrintWriter out) {
        rebuild.notes().forEach(note -> out.println("note: " + note));
        out.println((dryRun ? "would make " : "made ") + Units.plural(rebuild.versions(), "version") + " of "
                + Units.plural(rebuild.chunks(), "chunk") + "; the newest has "
                + Units.plural(rebuild.samples(), "sample")
                + (dryRun
                        ? "; nothing was written, run without --dry-run"
                        : "; check the payload with: stoker verify " + ShellText.word(path)));
    }

    private ObjectNode toJson(Rebuild rebuild) {
        ObjectNode result = Json.object();
        result.put("dry_run", dryRun).put("versions", rebuild.versions()).put("chunks", rebuild.chunks());
        result.put("samples", rebuild.samples());
        rebuild.notes().forEach(result.putArray("notes")::add);
        return result;
    }
}
