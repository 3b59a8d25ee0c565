package dev.stoker.cli.keep;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.change.ChangeOptions;
import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.samples.OpenDataset;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.VersionUses;
import dev.stoker.metadata.gc.Expiry;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.log.ExpiredVersions;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.text.Units;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker expire}: ends old versions. */
@Command(
        name = "expire",
        header = {
            "Examples:",
            "  stoker expire ./data/photos --keep 30d",
            "  stoker expire ./data/photos --keep-last 5 --yes"
        },
        description = {
            "Ends old versions, so that stoker gc can delete their chunks. Without --yes, it only prints"
                    + " the plan.",
            "Versions with a tag, and versions that a running feed uses, are kept."
        },
        sortOptions = false)
public final class ExpireVerb implements Callable<Integer> {

    private static final String ID = "expire-";

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "DATASET", description = "Directory or URI of the dataset.")
    private String path;

    @Option(
            names = "--keep",
            paramLabel = "TIME",
            description = "Keep versions that were the newest within this time, such as 12h or 30d.")
    private @Nullable String keep;

    @Option(names = "--keep-last", paramLabel = "N", description = "Keep the N newest versions.")
    private @Nullable Long keepLast;

    @Option(
            names = "--end-feed",
            paramLabel = "ID",
            description = "A feed with this ID has died: it uses no version any more.")
    private @Nullable String endedFeed;

    @Option(names = "--dry-run", description = "Print the plan, and write nothing.")
    private boolean dryRun;

    @Option(names = "--yes", description = "End the versions.")
    private boolean yes;

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        if (endedFeed == null && keep == null && keepLast == null) {
            throw new IllegalArgumentException("give --keep TIME, --keep-last N, or both");
        }
        try (OpenDataset open = OpenDataset.open(path)) {
            open.requireNoVersion("stoker expire");
            Dataset dataset = open.dataset();
            if (endedFeed != null) {
                return endFeed(dataset, endedFeed);
            }
            Expiry.Rule rule = new Expiry.Rule(
                    Optional.ofNullable(keep).map(text -> Units.parseTime("--keep", text)),
                    keepLast == null ? OptionalLong.empty() : OptionalLong.of(keepLast));
            Expiry expiry = Expiry.plan(dataset, rule, InstantSource.system());
            if (dryRun || !yes || expiry.ranges().isEmpty()) {
                print(dataset, expiry);
                return 0;
            }
            if (!json) {
                print(dataset, expiry);
            }
            Stores.requireAtomicCreate(dataset.store());
            print(dataset, expiry.commit(ID + UUID.randomUUID(), System.getProperty("user.name")));
            return 0;
        }
    }

    private int endFeed(Dataset dataset, String feed) throws IOException {
        if (keep != null || keepLast != null) {
            throw new IllegalArgumentException("--end-feed takes neither --keep nor --keep-last");
        }
        UUID id;
        try {
            id = UUID.fromString(feed);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("option --end-feed: '" + feed + "' is not the ID of a feed", e);
        }
        PrintWriter out = spec.commandLine().getOut();
        List<Long> versions = new VersionUses(dataset)
                .all().stream()
                        .filter(use -> use.feed().equals(id))
                        .map(use -> use.version())
                        .toList();
        if (versions.isEmpty()) {
            throw new CommandException("feed " + id + " uses no version of " + dataset.where());
        }
        if (!yes || dryRun) {
            out.println("would end the uses of feed " + id + ": versions " + versions + "; " + next("end them"));
            return 0;
        }
        new VersionUses(dataset).release(id);
        out.println("feed " + id + " uses no version any more; it had used " + versions);
        return 0;
    }

    private String next(String purpose) {
        return ChangeOptions.next(yes, dryRun, purpose);
    }

    private static String text(List<ExpiredVersions.Range> ranges) {
        return String.join(
                ", ",
                ranges.stream()
                        .map(range -> range.first() == range.last()
                                ? Long.toString(range.first())
                                : range.first() + " to " + range.last())
                        .toList());
    }

    private void print(Dataset dataset, Expiry expiry) {
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            ObjectNode root = toJson(dataset, expiry.ranges());
            root.putNull("version");
            root.putArray("kept");
            expiry.kept()
                    .forEach((version, reason) -> root.withArray("kept")
                            .addObject()
                            .put("version", version)
                            .put("reason", reason));
            out.println(root);
            return;
        }
        expiry.kept().forEach((version, reason) -> out.println("kept: version " + version + ": " + reason));
        if (expiry.ranges().isEmpty()) {
            out.println("no version to expire");
        } else if (!yes || dryRun) {
            out.println("would expire " + Units.plural(expiry.versions(), "version") + ": " + text(expiry.ranges())
                    + "; " + next("expire"));
        }
    }

    private void print(Dataset dataset, LogEntry entry) {
        List<ExpiredVersions.Range> ranges = entry.expired().ranges();
        if (json) {
            spec.commandLine().getOut().println(toJson(dataset, ranges).put("version", entry.version()));
            return;
        }
        long count = ranges.stream()
                .mapToLong(range -> range.last() - range.first() + 1)
                .sum();
        spec.commandLine()
                .getOut()
                .println("version " + entry.version() + ": expired " + Units.plural(count, "version") + ": "
                        + text(ranges) + "; stoker gc deletes their chunks");
    }

    private static ObjectNode toJson(Dataset dataset, List<ExpiredVersions.Range> ranges) {
        ObjectNode root = Json.object().put("path", dataset.where());
        root.putArray("expired");
        ranges.forEach(range -> root.withArray("expired")
                .addObject()
                .put("first", range.first())
                .put("last", range.last()));
        return root;
    }
}
