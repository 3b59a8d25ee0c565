package dev.stoker.cli.look;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.metadata.diff.VersionDiff;
import java.util.List;
import java.util.Locale;

/** The difference of two versions as JSON. */
public final class DiffJson {

    private DiffJson() {}

    /**
     * Adds the counts by split and class.
     *
     * @param mostClasses classes of a split; the others are left out
     */
    public static void addCounts(ObjectNode root, VersionDiff diff, int mostClasses) {
        ArrayNode splits = root.putArray("splits");
        diff.splits().forEach((split, counts) -> {
            ArrayNode classes = splits.addObject()
                    .put("split", split)
                    .put("added", counts.added())
                    .put("removed", counts.removed())
                    .put("changed", counts.changed())
                    .putArray("classes");
            counts.classes().stream()
                    .limit(mostClasses)
                    .forEach(of -> classes.addObject()
                            .put("field", of.field())
                            .put("class", of.name())
                            .put("added", of.added())
                            .put("removed", of.removed()));
        });
    }

    /** Adds samples that differ. */
    public static void addSamples(ObjectNode root, List<VersionDiff.Sample> samples) {
        ArrayNode array = root.putArray("samples");
        samples.forEach(sample -> array.addObject()
                .put("split", sample.split())
                .put("key", sample.key())
                .put("change", sample.change().name().toLowerCase(Locale.ROOT)));
    }
}
