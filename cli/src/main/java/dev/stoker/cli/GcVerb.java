package dev.stoker.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Orphan;
import dev.stoker.metadata.Orphans;
import dev.stoker.schemas.chunk.ChunkFile;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.storage.ObjectRangeReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker gc}: lists, and with {@code --yes} deletes, what dead ingests left behind. */
@Command(
        name = "gc",
        description = {
            "Lists the files that no version of a dataset knows: what interrupted ingests left behind.",
            "With --yes it deletes them. Files of an ingest stay as long as its newest one is younger than --older-than,",
            "so an ingest at work loses nothing; one that was interrupted can still be gone on with until then."
        })
final class GcVerb implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "DATASET", description = "Directory or URI of the dataset.")
    private String path;

    @Option(
            names = "--older-than",
            paramLabel = "TIME",
            defaultValue = "24h",
            description = "Leave younger ones alone, such as 90m, 24h, 7d (default: 24h). 0 only while no ingest runs.")
    private String olderThan;

    @Option(names = "--yes", description = "Delete them.")
    private boolean yes;

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    /** The orphans of one ingest; those of which nothing is known stand alone. */
    private record Leftover(String ingest, List<Orphan> files, Duration age) {
        long bytes() {
            return files.stream().mapToLong(Orphan::length).sum();
        }
    }

    @Override
    public Integer call() throws IOException {
        Duration limit = Units.parseTime("--older-than", olderThan);
        try (OpenDataset open = OpenDataset.open(path, null)) {
            List<Leftover> all = leftovers(open.dataset());
            List<Leftover> old =
                    all.stream().filter(l -> l.age.compareTo(limit) >= 0).toList();
            List<Orphan> plan = old.stream().flatMap(l -> l.files.stream()).toList();
            List<Orphan> deleted = yes ? Orphans.delete(open.dataset(), plan) : List.of();
            PrintWriter out = spec.commandLine().getOut();
            if (json) {
                out.println(toJson(all, old, deleted));
            } else {
                print(all, old, plan, deleted, limit, out);
            }
            return 0;
        }
    }

    private static List<Leftover> leftovers(Dataset dataset) throws IOException {
        Map<String, List<Orphan>> byIngest = new LinkedHashMap<>();
        List<Leftover> leftovers = new ArrayList<>();
        for (Orphan orphan : Orphans.find(dataset, Clock.systemUTC())) {
            String ingest = ingest(dataset, orphan);
            if (ingest.isEmpty()) {
                leftovers.add(new Leftover("", List.of(orphan), orphan.age()));
            } else {
                byIngest.computeIfAbsent(ingest, i -> new ArrayList<>()).add(orphan);
            }
        }
        byIngest.forEach((ingest, files) -> leftovers.add(new Leftover(
                ingest,
                files,
                files.stream().map(Orphan::age).min(Comparator.naturalOrder()).orElseThrow())));
        leftovers.sort(Comparator.comparing(Leftover::age).reversed());
        return leftovers;
    }

    /** The ingest that wrote a chunk, as the chunk says; empty if it does not. */
    private static String ingest(Dataset dataset, Orphan orphan) throws IOException {
        if (orphan.unfinished()) {
            return "";
        }
        try {
            return ChunkFile.open(new ObjectRangeReader(dataset.store(), orphan.name()))
                    .identity()
                    .ingest();
        } catch (StokerException e) {
            return "";
        }
    }

    private void print(
            List<Leftover> all,
            List<Leftover> old,
            List<Orphan> plan,
            List<Orphan> deleted,
            Duration limit,
            PrintWriter out) {
        if (all.isEmpty()) {
            out.println("nothing to delete: every file belongs to a version");
            return;
        }
        Table table = new Table("INGEST", "FILES", "BYTES", "AGE", "");
        for (Leftover leftover : all) {
            table.add(
                    !leftover.ingest.isEmpty()
                            ? leftover.ingest
                            : (leftover.files.get(0).unfinished() ? "unfinished " : "unreadable ")
                                    + leftover.files.get(0).name(),
                    Units.count(leftover.files.size()),
                    Units.bytes(leftover.bytes()),
                    Units.time(leftover.age),
                    old.contains(leftover) ? (yes ? "deleted" : "") : "kept: younger than " + Units.time(limit));
        }
        table.print(out);
        long bytes = (yes ? deleted : plan).stream().mapToLong(Orphan::length).sum();
        if (yes) {
            out.println("deleted " + Units.plural(deleted.size(), "file") + ", " + Units.bytes(bytes));
        } else if (!plan.isEmpty()) {
            out.println("would delete " + Units.plural(plan.size(), "file") + ", " + Units.bytes(bytes)
                    + "; do it with --yes");
        } else {
            out.println("nothing to delete");
        }
    }

    private ObjectNode toJson(List<Leftover> all, List<Leftover> old, List<Orphan> deleted) {
        ObjectNode root = Json.object();
        root.putArray("orphans");
        for (Leftover leftover : all) {
            for (Orphan orphan : leftover.files) {
                root.withArray("orphans")
                        .addObject()
                        .put("name", orphan.name())
                        .put("bytes", orphan.length())
                        .put("age_seconds", orphan.age().toSeconds())
                        .put("ingest", leftover.ingest.isEmpty() ? null : leftover.ingest)
                        .put("unfinished", orphan.unfinished())
                        .put("old_enough", old.contains(leftover))
                        .put("deleted", deleted.contains(orphan));
            }
        }
        return root;
    }
}
