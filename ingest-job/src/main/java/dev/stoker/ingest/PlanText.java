package dev.stoker.ingest;

import dev.stoker.connectors.files.FileEntry;
import dev.stoker.connectors.files.WalkOrder;
import dev.stoker.flink.arguments.OptionValues;
import dev.stoker.ingest.pack.Labels;
import dev.stoker.ingest.pack.Splits;
import dev.stoker.ingest.spec.IngestTarget;
import dev.stoker.schemas.arrow.Field;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.flink.configuration.MemorySize;

/** Describes the plan of an ingest as text. */
final class PlanText {

    private static final int CLASSES_SHOWN = 10;

    private PlanText() {}

    static List<String> of(IngestOptions options, Preparation preparation) throws IOException {
        List<String> lines = new ArrayList<>();
        lines.add("from   " + options.source());
        lines.add("into   " + options.target() + " ("
                + IngestTarget.text(
                        options.effect(),
                        preparation.baseVersion(),
                        preparation.info().name())
                + ")");
        for (Field field : preparation.info().fields()) {
            lines.add("field  " + field.name() + ": " + field.type().canonical()
                    + (field.nullable() ? ", may be empty" : "") + (field.payload() ? ", payload" : ""));
        }
        lines.add("order  "
                + (options.order() instanceof WalkOrder.Shuffled shuffled
                        ? "shuffled, seed " + shuffled.seed()
                        : "listed"));
        lines.add("chunks of " + OptionValues.text(new MemorySize(preparation.chunkSizeBytes(options))));
        if (options.run() == IngestOptions.Run.DRY) {
            addCounts(options, preparation, lines);
        }
        addSplits(preparation, lines);
        addClasses(options, preparation, lines);
        lines.addAll(SourceWarnings.of(options, preparation));
        return lines;
    }

    private static void addCounts(IngestOptions options, Preparation preparation, List<String> lines) {
        SourceSample sample = preparation.sample();
        long chunks = Math.max(
                1,
                (sample.totalBytes() + preparation.chunkSizeBytes(options) - 1) / preparation.chunkSizeBytes(options));
        lines.add(Units.plural(sample.total(), "sample") + ", " + Units.bytes(sample.totalBytes()) + ", about "
                + Units.plural(chunks, "chunk"));
        lines.addAll(sample.skipped().lines());
    }

    private static void addSplits(Preparation preparation, List<String> lines) {
        Splits splits = new Splits(preparation.splitRule());
        Map<String, Integer> counts = new TreeMap<>();
        for (FileEntry file : preparation.sample().files()) {
            counts.merge(splits.of(file.key()), 1, Integer::sum);
        }
        lines.add("splits of the first "
                + Units.plural(preparation.sample().files().size(), "sample") + ": "
                + counts.entrySet().stream()
                        .map(split -> split.getKey() + " " + Units.count(split.getValue()))
                        .collect(Collectors.joining(", ")));
    }

    private static void addClasses(IngestOptions options, Preparation preparation, List<String> lines)
            throws IOException {
        if (options.content().label().isEmpty()) {
            return;
        }
        Labels labels = Labels.of(options.content().label().get());
        TreeSet<String> classes = new TreeSet<>();
        for (FileEntry file : preparation.sample().files()) {
            labels.of(file.path()).ifPresent(classes::add);
        }
        List<String> first = classes.stream().limit(CLASSES_SHOWN).toList();
        lines.add("classes of the first "
                + Units.plural(preparation.sample().files().size(), "sample") + ": " + String.join(", ", first)
                + (classes.size() > first.size() ? ", … (" + classes.size() + ")" : ""));
    }
}
