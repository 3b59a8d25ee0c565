package dev.stoker.ingest.rows;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.ingest.rows.options.RowIngestOptions;
import dev.stoker.ingest.rows.source.SourceFile;
import dev.stoker.ingest.rows.source.Unreadable;
import dev.stoker.ingest.spec.TargetDataset;
import dev.stoker.schemas.text.Units;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Describes the plan of an ingest of rows. */
final class RowPlanText {
    private final RowIngestOptions options;
    private final RowInspection source;

    RowPlanText(RowIngestOptions options, RowInspection source) {
        this.options = options;
        this.source = source;
    }

    /**
     * Returns the plan as text.
     *
     * @param version the newest one of the dataset; 0 for none
     * @param plan the fields
     * @param hints what the user may want to change
     */
    List<String> lines(long version, FieldPlan plan, List<String> hints) {
        List<String> lines = new ArrayList<>();
        long bytes = source.files().stream().mapToLong(SourceFile::length).sum();
        lines.add("from   " + String.join(" ", options.sources()) + " ("
                + Units.plural(source.files().size(), "file") + " of "
                + source.format().name() + ", "
                + Units.bytes(bytes) + (source.rows() < 0 ? "" : ", " + Units.plural(source.rows(), "row")) + ")");
        lines.add(
                options.into(DatasetStore.BY_LOCATION).line(version, plan.info().name()));
        lines.addAll(plan.lines(options, source));
        options.columns().where().ifPresent(where -> lines.add("where  " + where + excluded()));
        lines.addAll(TargetDataset.chunkLines(
                options.order(),
                TargetDataset.chunkSizeBytes(plan.info(), options.work().chunkSizeBytes())));
        lines.addAll(source.found().warnings());
        lines.addAll(hints);
        List<String> splits = source.files().stream()
                .map(SourceFile::split)
                .filter(split -> !split.isEmpty())
                .distinct()
                .toList();
        if (!splits.isEmpty()) {
            lines.add("splits of the source: " + String.join(", ", splits));
        }
        List<Unreadable> unreadable = source.omitted().unreadable();
        if (!unreadable.isEmpty()) {
            lines.add("left out: " + Units.plural(unreadable.size(), "file") + " that cannot be read, such as "
                    + unreadable.get(0).location() + " (" + unreadable.get(0).reason() + ")");
        }
        Set<String> dropped = new LinkedHashSet<>(source.columns().keySet());
        dropped.addAll(source.found().ignored());
        dropped.removeAll(plan.mapping().stored());
        if (!dropped.isEmpty()) {
            lines.add("left out: the columns " + String.join(", ", dropped));
        }
        return lines;
    }

    /** Counts the files and row groups that the ingest will not read. */
    private String excluded() {
        List<String> parts = new ArrayList<>();
        if (source.omitted().files() > 0) {
            parts.add(source.omitted().files() + " of "
                    + Units.plural(source.files().size(), "file"));
        }
        if (source.omitted().parts() > 0) {
            parts.add(source.omitted().parts() + " of "
                    + Units.plural(source.omitted().parts() + source.pieces().size(), "part"));
        }
        return parts.isEmpty() ? "" : " (leaves out " + String.join(" and ", parts) + " without reading them)";
    }
}
