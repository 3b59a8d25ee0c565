package dev.stoker.cli.look;

import dev.stoker.cli.output.Columns;
import dev.stoker.cli.samples.OpenDataset;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.history.VersionChange;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.log.AddedChunk;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker log}: the versions of a dataset. */
@Command(
        name = "log",
        header = {"Example:", "  stoker log ./data/photos"},
        description = "Lists the versions of a dataset, newest first. Prints author, time and operation.")
public final class LogVerb implements Callable<Integer> {

    private static final Columns<VersionChange> COLUMNS = columns()
            .bytes("BYTES", "added_bytes", change -> bytes(change.entry()))
            .text("INGEST", "ingest", change -> change.entry().ingest())
            .key("properties", change -> change.entry().properties());

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "DATASET", description = "Directory or URI of the dataset.")
    private String path;

    @Option(
            names = "--n",
            paramLabel = "N",
            description = "Maximum number of versions. Default: 20.",
            defaultValue = "20")
    private int count;

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    /** Returns the columns that all lists of versions have. */
    public static Columns<VersionChange> columns() {
        return new Columns<VersionChange>()
                .number("VERSION", "version", VersionChange::version)
                .column("WHEN", "committed_ms", change -> change.entry().committedMs(), Units::date)
                .text("WHO", "committed_by", change -> change.entry().committedBy())
                .text(
                        "OPERATION",
                        "operation",
                        change -> change.entry().operation().code())
                .count("ADDED", "added_samples", VersionChange::added)
                .count("REMOVED", "removed_samples", VersionChange::removed)
                .cell("UPDATED", change -> change.updated().map(Units::count).orElse("unknown"))
                .key("updated_samples", change -> change.updated().orElse(null))
                .count(
                        "CHUNKS",
                        "added_chunks",
                        change -> change.entry().added().size());
    }

    /** Returns the bytes that a version has added. */
    private static long bytes(LogEntry entry) {
        return Stream.concat(
                        entry.added().stream().map(AddedChunk::length),
                        entry.updated().stream().map(chunk -> chunk.overlay().length()))
                .mapToLong(length -> length)
                .sum();
    }

    @Override
    public Integer call() throws IOException {
        try (OpenDataset open = OpenDataset.open(path)) {
            Dataset dataset = open.dataset();
            PrintWriter out = spec.commandLine().getOut();
            long newest = dataset.latestVersion();
            long first = Math.max(0, newest - count) + 1;
            List<VersionChange> changes = VersionChange.of(dataset, first, newest, newest);
            if (json) {
                out.println(COLUMNS.add(Json.array(), changes));
            } else if (newest == 0) {
                out.println("no version yet: no ingest into " + dataset.where() + " has committed");
            } else {
                COLUMNS.print(changes, out);
                if (newest > count) {
                    out.println((newest - count) + " older ones: --n " + newest);
                }
            }
            return 0;
        }
    }
}
