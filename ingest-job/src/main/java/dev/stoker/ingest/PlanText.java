package dev.stoker.ingest;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.connectors.files.FileTree;
import dev.stoker.ingest.pack.read.Labels;
import dev.stoker.ingest.spec.TargetDataset;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Describes the plan of an ingest as text. */
final class PlanText {

    private static final int CLASSES_SHOWN = 10;

    private PlanText() {}

    static List<String> of(IngestOptions options, Preparation preparation) throws IOException {
        List<String> lines = new ArrayList<>();
        lines.add("from   " + options.source());
        lines.add(options.into(DatasetStore.BY_LOCATION)
                .line(preparation.base().version(), preparation.info().name()));
        preparation.info().fields().forEach(field -> lines.add(TargetDataset.line(field)));
        lines.addAll(TargetDataset.chunkLines(options.order(), preparation.chunkSizeBytes(options)));
        if (options.run() == IngestOptions.Run.DRY) {
            addCounts(options, preparation, lines);
        }
        lines.addAll(preparation.sample().keys().lines());
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
        lines.add("splits of " + samples(preparation) + ": "
                + preparation.sample().names().inSplits().entrySet().stream()
                        .map(split -> split.getKey() + " " + Units.count(split.getValue()))
                        .collect(Collectors.joining(", ")));
    }

    private static String samples(Preparation preparation) {
        return (preparation.sample().isWhole() ? "" : "the first ")
                + Units.plural(preparation.sample().names().total(), "sample");
    }

    private static void addClasses(IngestOptions options, Preparation preparation, List<String> lines)
            throws IOException {
        if (options.content().label().isEmpty()) {
            return;
        }
        NameCensus names = preparation.sample().names();
        Set<String> classes = names.classes();
        List<String> first = classes.stream().limit(CLASSES_SHOWN).toList();
        lines.add("classes of " + samples(preparation) + ": " + String.join(", ", first)
                + (classes.size() > first.size() ? ", … (" + classes.size() + ")" : ""));
        if (names.unlabelled() > 0) {
            boolean isSkipping = options.walk().errors() == FileTree.Errors.SKIP;
            lines.add((isSkipping ? "left out: " : "ends the ingest: ") + Units.count(names.unlabelled()) + " of "
                    + samples(preparation) + " without a class: "
                    + Labels.of(options.content().label().get()).missing(names.unlabelledExample()));
        }
    }
}
