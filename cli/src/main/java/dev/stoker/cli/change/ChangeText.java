package dev.stoker.cli.change;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.output.KeyText;
import dev.stoker.cli.output.Table;
import dev.stoker.metadata.removal.SplitChange;
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

    void addTo(ObjectNode root) {
        ArrayNode array = root.putArray("splits");
        for (SplitChange split : splits) {
            array.addObject()
                    .put("split", split.split())
                    .put("samples", split.changed())
                    .put("of", split.samples())
                    .put("chunks", split.chunks());
        }
        firstKeys.forEach(root.putArray("first_keys")::add);
    }

    void print(PrintWriter out) {
        Table table = new Table("SPLIT", "SAMPLES", "OF", "CHUNKS");
        for (SplitChange split : splits) {
            table.add(
                    split.split(),
                    Units.count(split.changed()),
                    Units.count(split.samples()),
                    Units.count(split.chunks()));
        }
        table.print(out);
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
