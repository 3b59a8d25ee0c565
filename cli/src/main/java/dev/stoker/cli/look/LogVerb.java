package dev.stoker.cli.look;

import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.stoker.cli.output.KeyText;
import dev.stoker.cli.output.Table;
import dev.stoker.cli.samples.OpenDataset;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.history.VersionChange;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.log.AddedChunk;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
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

    @Override
    public Integer call() throws IOException {
        try (OpenDataset open = OpenDataset.open(path)) {
            Dataset dataset = open.dataset();
            PrintWriter out = spec.commandLine().getOut();
            long newest = dataset.latestVersion();
            Table table = new Table(
                    "VERSION", "WHEN", "WHO", "OPERATION", "ADDED", "REMOVED", "UPDATED", "CHUNKS", "BYTES", "INGEST");
            ArrayNode array = Json.array();
            long first = Math.max(0, newest - count) + 1;
            for (VersionChange change : VersionChange.of(dataset, first, newest, newest)) {
                LogEntry entry = change.entry();
                long bytes =
                        entry.added().stream().mapToLong(AddedChunk::length).sum()
                                + entry.updated().stream()
                                        .mapToLong(chunk -> chunk.overlay().length())
                                        .sum();
                table.add(
                        Long.toString(change.version()),
                        Units.date(entry.committedMs()),
                        KeyText.line(entry.committedBy()),
                        entry.operation().code(),
                        Units.count(change.added()),
                        Units.count(change.removed()),
                        change.updated().map(Units::count).orElse("unknown"),
                        Units.count(entry.added().size()),
                        Units.bytes(bytes),
                        entry.ingest());
                array.addObject()
                        .put("version", change.version())
                        .put("committed_ms", entry.committedMs())
                        .put("committed_by", entry.committedBy())
                        .put("operation", entry.operation().code())
                        .put("added_samples", change.added())
                        .put("removed_samples", change.removed())
                        .put("updated_samples", change.updated().orElse(null))
                        .put("added_chunks", entry.added().size())
                        .put("added_bytes", bytes)
                        .put("ingest", entry.ingest())
                        .set("properties", Json.PLAIN.valueToTree(entry.properties()));
            }
            if (json) {
                out.println(array);
            } else if (newest == 0) {
                out.println("no version yet: no ingest into " + dataset.where() + " has committed");
            } else {
                table.print(out);
                if (newest > count) {
                    out.println((newest - count) + " older ones: --n " + newest);
                }
            }
            return 0;
        }
    }
}
