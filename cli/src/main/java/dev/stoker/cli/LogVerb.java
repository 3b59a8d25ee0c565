package dev.stoker.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.stoker.metadata.Dataset;
import dev.stoker.schemas.log.LogEntry;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker log}: the versions of a dataset. */
@Command(name = "log", description = "Lists the versions of a dataset, newest first: who made them, when and how.")
final class LogVerb implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "DATASET", description = "Directory or URI of the dataset.")
    private String path;

    @Option(names = "--n", paramLabel = "N", description = "At most so many (default: 20).", defaultValue = "20")
    private int count;

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        try (OpenDataset open = OpenDataset.open(path, null)) {
            Dataset dataset = open.dataset();
            PrintWriter out = spec.commandLine().getOut();
            long newest = dataset.latestVersion();
            Table table =
                    new Table("VERSION", "WHEN", "WHO", "OPERATION", "ADDED", "REMOVED", "CHUNKS", "BYTES", "INGEST");
            ArrayNode array = Json.array();
            for (long version = newest; version > Math.max(0, newest - count); version--) {
                LogEntry entry = dataset.entry(version);
                long before =
                        version == 1 ? 0 : dataset.snapshot(version - 1).table().liveRows();
                long removed = before
                        + entry.addedRows()
                        - dataset.snapshot(version).table().liveRows();
                long bytes = entry.added().stream()
                        .mapToLong(chunk -> chunk.length())
                        .sum();
                table.add(
                        Long.toString(version),
                        Units.date(entry.committedMs()),
                        entry.committedBy(),
                        entry.operation().code(),
                        Units.count(entry.addedRows()),
                        Units.count(removed),
                        Units.count(entry.added().size()),
                        Units.bytes(bytes),
                        entry.ingest());
                array.addObject()
                        .put("version", version)
                        .put("committed_ms", entry.committedMs())
                        .put("committed_by", entry.committedBy())
                        .put("operation", entry.operation().code())
                        .put("added_samples", entry.addedRows())
                        .put("removed_samples", removed)
                        .put("added_chunks", entry.added().size())
                        .put("added_bytes", bytes)
                        .put("ingest", entry.ingest())
                        .set("properties", Json.MAPPER.valueToTree(entry.properties()));
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
