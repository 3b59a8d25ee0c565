package dev.stoker.cli.ingest;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.output.KeyText;
import dev.stoker.ingest.IngestResult;
import dev.stoker.ingest.SyncJob;
import dev.stoker.ingest.SyncOptions;
import dev.stoker.ingest.SyncResult;
import dev.stoker.ingest.pack.plan.SyncRule;
import dev.stoker.ingest.pack.sync.SyncChanges;
import dev.stoker.ingest.pack.sync.SyncChanges.Kind;
import dev.stoker.schemas.text.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code stoker sync}: makes the samples of a dataset agree with a directory tree. */
@Command(
        name = "sync",
        header = {
            "Examples:",
            "  stoker sync ./photos ./data/photos --label-from parent-dir",
            "  stoker sync ./photos ./data/photos --label-from parent-dir --delete --dry-run",
            "  stoker sync s3a://bucket/photos ./data/photos --checksum"
        },
        description = {
            "Brings a dataset up to date with its directory of files. Compares the directory tree with the dataset"
                    + " that was ingested from it, and commits one version with the new and changed files. Give the"
                    + " same options as for the ingest.",
            "If nothing has changed, it commits nothing. Values that stoker update has set stay."
        },
        customSynopsis = "stoker sync SOURCE DATASET [OPTION]…",
        sortOptions = false)
public final class SyncVerb implements Callable<Integer> {

    @Mixin
    private final IngestCommand command;

    /** @param arguments of the job */
    public SyncVerb(List<String> arguments) {
        this.command = new IngestCommand(arguments);
    }

    @Override
    public Integer call() throws Exception {
        SyncOptions options = SyncOptions.parse(command.arguments());
        return command.run(
                listener -> SyncJob.run(options, SyncJob.embedded(options), listener),
                options.ingest().target(),
                SyncVerb::toJson,
                SyncVerb::lines,
                result -> result.ingest().outcome() == IngestResult.Outcome.COMMITTED);
    }

    private static List<String> lines(SyncResult result) {
        IngestResult ingest = result.ingest();
        SyncChanges changes = result.changes();
        boolean isDry = result.run() == SyncRule.Run.DRY;
        if (ingest.outcome() == IngestResult.Outcome.COMMITTED_BEFORE) {
            return ingest.lines();
        }
        List<String> lines = new ArrayList<>();
        if (isDry) {
            lines.add("compared with version " + ingest.version() + ": " + Units.count(changes.count(Kind.ADDED))
                    + " new, " + Units.count(changes.count(Kind.CHANGED)) + " changed, "
                    + Units.count(changes.count(Kind.RELABELLED)) + " of another class and "
                    + Units.count(changes.count(Kind.UNCHANGED)) + " unchanged files; "
                    + Units.plural(changes.count(Kind.REMOVED), "sample") + " to remove");
            keys("+", changes, Kind.ADDED, lines);
            keys("~", changes, Kind.CHANGED, lines);
            keys("~ class of", changes, Kind.RELABELLED, lines);
            keys("-", changes, Kind.REMOVED, lines);
        } else if (ingest.outcome() == IngestResult.Outcome.UNCHANGED) {
            lines.add("nothing to commit: version " + ingest.version() + " agrees with the files, "
                    + Units.seconds(ingest.duration()));
        } else {
            // Files that were left out are not among the samples.
            lines.add("version " + ingest.version() + ": "
                    + Units.plural(ingest.samples() - ingest.replaced(), "sample") + " added, "
                    + Units.count(ingest.replaced()) + " replaced"
                    + (changes.count(Kind.RELABELLED) > 0
                            ? " (" + Units.count(changes.count(Kind.RELABELLED)) + " for another class), "
                            : ", ")
                    + Units.count(changes.count(Kind.REMOVED))
                    + " removed; " + Units.count(changes.count(Kind.UNCHANGED)) + " unchanged, "
                    + Units.seconds(ingest.duration()));
        }
        if (changes.count(Kind.MISSING) > 0) {
            lines.add("kept: " + Units.plural(changes.count(Kind.MISSING), "sample")
                    + " whose files are gone, such as "
                    + KeyText.line(changes.first(Kind.MISSING).get(0)) + "; --delete removes them");
        }
        if (changes.count(Kind.UPDATED) > 0) {
            lines.add("kept: " + Units.plural(changes.count(Kind.UPDATED), "sample")
                    + " with values that stoker update has set, although the files have changed, such as "
                    + KeyText.line(changes.first(Kind.UPDATED).get(0)) + "; --replace-updated replaces them");
        }
        // The first line is the one of an ingest.
        ingest.lines().stream().filter(line -> line.startsWith("left out: ")).forEach(lines::add);
        lines.addAll(ingest.excludedKeys().lines());
        lines.addAll(ingest.missingLines());
        if (isDry) {
            lines.add("nothing was written; run without --dry-run to commit");
        }
        return lines;
    }

    private static void keys(String sign, SyncChanges changes, Kind kind, List<String> lines) {
        List<String> first = changes.first(kind);
        first.forEach(key -> lines.add(sign + " " + KeyText.line(key)));
        long more = changes.count(kind) - first.size();
        if (more > 0) {
            lines.add(sign + " and " + Units.count(more) + " more");
        }
    }

    private static ObjectNode toJson(SyncResult result) {
        ObjectNode json = IngestReport.json(result.ingest());
        json.put("dry_run", result.run() == SyncRule.Run.DRY);
        ObjectNode changes = json.putObject("changes");
        for (Kind kind : Kind.values()) {
            ObjectNode node = changes.putObject(kind.name().toLowerCase(Locale.ROOT));
            node.put("count", result.changes().count(kind));
            result.changes().first(kind).forEach(node.putArray("first_keys")::add);
        }
        return json;
    }
}
