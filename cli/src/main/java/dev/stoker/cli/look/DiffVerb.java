package dev.stoker.cli.look;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.options.ReadThreads;
import dev.stoker.cli.output.KeyText;
import dev.stoker.cli.output.ReadProgress;
import dev.stoker.cli.output.Table;
import dev.stoker.cli.samples.OpenDataset;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.diff.VersionComparison;
import dev.stoker.metadata.diff.VersionDiff;
import dev.stoker.metadata.version.VersionName;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker diff}: the samples by which two versions differ. */
@Command(
        name = "diff",
        header = {
            "Examples:",
            "  stoker diff ./data/photos 3 7",
            "  stoker diff ./data/photos paper --keys",
            "  stoker diff s3a://bucket/photos 3 7 --json"
        },
        description = {
            "Counts added, removed and changed samples between two versions. Counts them by split and class.",
            "Samples that a compaction has moved are no difference. Reads the heads of the chunks that differ."
        },
        sortOptions = false)
public final class DiffVerb implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "DATASET", description = "Directory or URI of the dataset.")
    private String path;

    @Parameters(index = "1", paramLabel = "A", description = "Number or tag of the first version.")
    private String first;

    @Parameters(
            index = "2",
            arity = "0..1",
            paramLabel = "B",
            description = "Number or tag of the second version. Default: the newest.")
    private @Nullable String second;

    @Option(names = "--keys", description = "List the keys of the samples that differ.")
    private boolean keys;

    @Option(
            names = "--threads",
            paramLabel = "N",
            description = "Chunks to read at a time. Default: number of processors; at least 16 for HDFS, S3, ….")
    private @Nullable Integer threads;

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        int parallelism = ReadThreads.of(threads, path);
        VersionName from = new VersionName(first);
        VersionName to = second == null ? null : new VersionName(second);
        try (OpenDataset open = OpenDataset.open(path)) {
            open.requireNoVersion("stoker diff");
            Dataset dataset = open.dataset();
            Snapshot a = dataset.snapshot(from.in(dataset));
            Snapshot b = to == null ? dataset.snapshot() : dataset.snapshot(to.in(dataset));
            AtomicInteger read = new AtomicInteger();
            VersionComparison comparison = new VersionComparison(dataset, a, b, parallelism, read::addAndGet);
            int chunks = comparison.chunks();
            VersionDiff diff;
            try (ReadProgress progress = new ReadProgress(
                    spec.commandLine().getErr(),
                    () -> "comparing: " + Units.count(read.get()) + " of " + Units.plural(chunks, "chunk"))) {
                diff = comparison.run(keys ? VersionComparison.Samples.LISTED : VersionComparison.Samples.COUNTED);
                progress.end();
            }
            if (json) {
                spec.commandLine().getOut().println(toJson(dataset, diff));
            } else {
                print(diff, spec.commandLine().getOut());
            }
            return 0;
        }
    }

    private void print(VersionDiff diff, PrintWriter out) {
        if (diff.isEmpty()) {
            out.println("versions " + diff.from() + " and " + diff.to() + " have the same samples");
            return;
        }
        Table table = new Table("SPLIT", "CLASS", "ADDED", "REMOVED", "CHANGED");
        diff.splits().forEach((split, counts) -> {
            table.add(
                    split,
                    "",
                    Units.count(counts.added()),
                    Units.count(counts.removed()),
                    Units.count(counts.changed()));
            for (VersionDiff.ClassCounts of : counts.classes()) {
                table.add(
                        split,
                        of.field() + "=" + KeyText.line(of.name()),
                        Units.count(of.added()),
                        Units.count(of.removed()),
                        "");
            }
        });
        table.print(out);
        for (VersionDiff.Sample sample : diff.samples()) {
            String sign = switch (sample.change()) {
                case ADDED -> "+ ";
                case REMOVED -> "- ";
                case CHANGED -> "~ ";
            };
            out.println(sign + sample.split() + " " + KeyText.line(sample.key()));
        }
    }

    private ObjectNode toJson(Dataset dataset, VersionDiff diff) {
        ObjectNode root = Json.object();
        root.put("path", dataset.where()).put("from", diff.from()).put("to", diff.to());
        DiffJson.addCounts(root, diff, Integer.MAX_VALUE);
        if (keys) {
            DiffJson.addSamples(root, diff.samples());
        }
        return root;
    }
}
