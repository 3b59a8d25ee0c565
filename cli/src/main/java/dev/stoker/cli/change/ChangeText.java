package dev.stoker.cli.change;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.output.Columns;
import dev.stoker.cli.output.KeyText;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.commit.Commit;
import dev.stoker.metadata.removal.SplitChange;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.text.Units;
import java.io.PrintWriter;
import java.util.List;

/**
 * Which samples a change concerns, for people and as JSON.
 *
 * @param splits the splits with such samples
 * @param firstKeys keys of the first of them
 * @param samples their number
 */
record ChangeText(List<SplitChange> splits, List<String> firstKeys, long samples) {

    private static final Columns<SplitChange> COLUMNS = new Columns<SplitChange>()
            .text("SPLIT", "split", SplitChange::split)
            .count("SAMPLES", "samples", SplitChange::changed)
            .count("OF", "of", SplitChange::samples)
            .count("CHUNKS", "chunks", SplitChange::chunks);

    /** Returns the beginning of a plan as JSON. */
    static ObjectNode json(Dataset dataset, long version) {
        return Json.object()
                .put("path", dataset.where())
                .put("base_version", version)
                .putNull("version");
    }

    /** Returns the beginning of a result as JSON. */
    static ObjectNode json(Dataset dataset, Commit commit) {
        return json(dataset, commit.version() - 1)
                .put("version", commit.version())
                .put("ingest", commit.entry().ingest())
                .put("repeated", commit.repeated());
    }

    /** Returns the beginning of a result's line. */
    static String version(Commit commit) {
        return "version " + commit.version() + (commit.repeated() ? " was already committed: " : ": ");
    }

    void addTo(ObjectNode root) {
        COLUMNS.add(root.putArray("splits"), splits);
        firstKeys.forEach(root.putArray("first_keys")::add);
    }

    void print(PrintWriter out) {
        COLUMNS.print(splits, out);
        firstKeys.forEach(key -> out.println("  " + KeyText.line(key)));
        long more = samples - firstKeys.size();
        if (more > 0) {
            out.println("  and " + Units.count(more) + " more");
        }
    }

    /** Prints how many given keys no sample has, if there are any. */
    static void printMissing(PrintWriter out, long missing) {
        if (missing > 0) {
            out.println("ignored: " + Units.plural(missing, "key") + " that no sample has");
        }
    }
}
