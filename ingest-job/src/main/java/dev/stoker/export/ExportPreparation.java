package dev.stoker.export;

import dev.stoker.export.place.ExportTarget;
import dev.stoker.export.place.TargetLocation;
import dev.stoker.export.read.ExportSelection;
import dev.stoker.export.read.ShardReader;
import dev.stoker.export.spec.Content;
import dev.stoker.export.spec.InvalidExportException;
import dev.stoker.export.spec.RowOrder;
import dev.stoker.export.spec.Shard;
import dev.stoker.export.task.ExportWork;
import dev.stoker.export.task.Tables;
import dev.stoker.export.task.Writers;
import dev.stoker.formats.files.FilesWriter;
import dev.stoker.formats.write.OutputColumn;
import dev.stoker.formats.write.OutputTable;
import dev.stoker.formats.write.RowFormatWriter;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.selection.SampleFilter;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.condition.RowExpression;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.schemas.text.Units;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Inspects dataset and target before the job starts, and finds all problems that would make the export fail. Runs on
 * the machine that submits the job.
 */
final class ExportPreparation {
    /** Samples that are read to estimate the share for which a condition is true. */
    private static final long PREVIEWED = 10_000;

    private static final long PREVIEW_MEMORY = 256L << 20;

    private static final int SHOWN_NAMES = 20;

    private final ExportOptions options;
    private final Snapshot snapshot;
    /** Null for a tree of files. */
    private final @Nullable RowFormatWriter format;

    private final List<String> splits;
    private final Content content;
    private final OutputTable table;

    private ExportPreparation(ExportOptions options, Snapshot snapshot, ObjectStore store) throws IOException {
        this.options = options;
        this.snapshot = snapshot;
        List<String> problems = new ArrayList<>();
        String compression = compression(problems);
        this.splits = splits();
        List<String> available = List.copyOf(SampleFilter.types(fields()).keySet());
        int[] columns = columns(available, problems);
        ArrayList<String> names = names(columns, available, problems);
        requireWhere(problems);
        Optional<String> where = options.source().where().map(RowExpression::toString);
        HashSet<String> images = options.files().layout() == ExportOptions.Layout.HUGGINGFACE && problems.isEmpty()
                ? new ImageColumns(snapshot, store).find(columns, names, splits)
                : null;
        this.content = new Content(columns, names, options.files().format(), compression, images, where.orElse(null));
        this.format = Writers.of(content).orElse(null);
        this.table = Tables.of(snapshot, content);
        if (problems.isEmpty()) {
            problems.addAll(format == null ? FilesWriter.problems(table) : format.problems(table));
        }
        if (!problems.isEmpty()) {
            throw new InvalidExportException(problems);
        }
    }

    /**
     * Inspects dataset and target. Writes nothing.
     *
     * @throws InvalidExportException if the export is not possible
     */
    static ExportPreparation of(ExportOptions options) throws IOException {
        requireApart(options);
        try (ObjectStore store = Stores.open(options.source().dataset())) {
            Dataset dataset = Dataset.open(store);
            Snapshot snapshot = options.source().reference().open(dataset);
            return new ExportPreparation(options, snapshot, store);
        }
    }

    private List<Field> fields() {
        return snapshot.info().fields();
    }

    private String compression(List<String> problems) {
        List<String> compressions = Writers.named(options.files().format())
                .map(RowFormatWriter::compressions)
                .orElse(List.of("none"));
        String compression = options.files().compression().orElse(compressions.get(0));
        if (!compressions.contains(compression)) {
            problems.add("option --compression: the format " + options.files().format() + " has "
                    + String.join(" or ", compressions) + ", not " + compression);
        }
        return compression;
    }

    private static void requireApart(ExportOptions options) {
        String dataset = options.source().dataset() + "/";
        String target = options.target() + "/";
        if (dataset.startsWith(target) || target.startsWith(dataset)) {
            throw new InvalidExportException("the target " + options.target() + " and the dataset "
                    + options.source().dataset() + " contain each other; choose another target");
        }
    }

    private List<String> splits() throws IOException {
        if (options.source().split().isPresent()) {
            String split = options.source().split().get();
            // Throws if there is no such split.
            snapshot.stream(split);
            return List.of(split);
        }
        List<String> all = snapshot.splits();
        if (options.order() instanceof RowOrder.Epoch && all.size() > 1) {
            throw new InvalidExportException("an epoch has the samples of one split; name it, as in "
                    + options.source().dataset() + ":" + all.get(0) + " (the splits are " + String.join(", ", all)
                    + ")");
        }
        return all;
    }

    private int[] columns(List<String> available, List<String> problems) {
        List<String> wanted = options.files().columns().orElse(available);
        for (String name : wanted) {
            if (!available.contains(name)) {
                problems.add("option --columns: the dataset has no column " + name + "; it has " + shown(available));
            }
        }
        if (wanted.isEmpty()) {
            problems.add("option --columns: no column is named; the dataset has " + shown(available));
        }
        Set<String> set = new HashSet<>(wanted);
        return IntStream.range(0, available.size())
                .filter(i -> set.contains(available.get(i)))
                .toArray();
    }

    private ArrayList<String> names(int[] columns, List<String> available, List<String> problems) {
        ArrayList<String> given = new ArrayList<>();
        Set<String> selected = new LinkedHashSet<>();
        for (int column : columns) {
            String name = available.get(column);
            selected.add(name);
            String written = options.files().renamed().getOrDefault(name, name);
            if (given.contains(written)) {
                problems.add("option --rename: two columns would have the name " + written);
            }
            given.add(written);
        }
        options.files().renamed().keySet().stream()
                .filter(name -> !selected.contains(name))
                .forEach(name ->
                        problems.add("option --rename: there is no column " + name + "; there are " + shown(selected)));
        return given;
    }

    private static String shown(Collection<String> names) {
        return names.size() <= SHOWN_NAMES
                ? String.join(", ", names)
                : names.stream().limit(SHOWN_NAMES).collect(Collectors.joining(", ")) + ", … (" + names.size() + ")";
    }

    private void requireWhere(List<String> problems) {
        if (options.source().where().isEmpty()) {
            return;
        }
        RowExpression where = options.source().where().get();
        Map<String, FieldType> columns = SampleFilter.types(fields());
        for (String name : where.columns()) {
            if (!columns.containsKey(name)) {
                problems.add(
                        "option --where: the dataset has no column " + name + "; it has " + shown(columns.keySet()));
            }
        }
        if (columns.keySet().containsAll(where.columns())) {
            try {
                where.bind(columns);
            } catch (IllegalArgumentException e) {
                problems.add("option --where: " + e.getMessage());
            }
        }
    }

    /** Returns the plan of an export with an id. */
    ExportPlan plan(String export) throws IOException {
        ArrayList<Shard> shards = new ArrayList<>();
        long rows = 0;
        for (String split : splits) {
            StreamChunks stream = snapshot.stream(split);
            shards.addAll(shards(split, stream));
            rows += stream.liveRows();
        }
        if (shards.isEmpty()) {
            shards.add(new Shard("", 0, 1, 0, 0));
        }
        ExportWork work = new ExportWork(
                options.source().dataset(),
                snapshot.version(),
                content,
                options.order(),
                shards,
                splits.size() > 1,
                place(export));
        return new ExportPlan(
                work,
                snapshot.info().id().toString(),
                options.work().parallelism().orElse(0),
                rows,
                lines(shards.size(), rows));
    }

    private TargetLocation place(String export) {
        return new TargetLocation(options.target(), export, options.existing());
    }

    /** Checks the target and changes nothing. */
    void checkTarget() throws IOException {
        try (ExportTarget target = place("none").open()) {
            target.check();
        }
    }

    private List<Shard> shards(String split, StreamChunks stream) {
        long rows = stream.liveRows();
        long bytes = 0;
        for (int i = 0; i < stream.size(); i++) {
            bytes += stream.length(i);
        }
        long bySize = (bytes + options.work().shardBytes() - 1) / options.work().shardBytes();
        long wanted =
                options.work().shards().isPresent() ? options.work().shards().getAsInt() : Math.min(bySize, 100_000);
        int count = (int) Math.max(1, Math.min(wanted, rows));
        List<Shard> shards = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long from = part(rows, i, count);
            shards.add(new Shard(split, i, count, from, part(rows, i + 1, count) - from));
        }
        return shards;
    }

    private static long part(long rows, long index, long count) {
        return rows / count * index + rows % count * index / count;
    }

    private ArrayList<String> lines(int shards, long rows) {
        ArrayList<String> lines = new ArrayList<>();
        lines.add("from   " + options.source().dataset() + " (version " + snapshot.version() + ", "
                + (splits.size() == 1 ? "split " : "splits ") + String.join(", ", splits) + ", "
                + Units.plural(rows, "sample") + ")");
        lines.add("into   " + options.target() + " (" + Units.plural(shards, "shard") + " of " + content.format()
                + (content.compression().equals("none") ? "" : ", compressed with " + content.compression()) + ")");
        lines.add("order  " + options.order());
        options.source().where().ifPresent(where -> lines.add("where  " + where));
        List<String> left = new ArrayList<>(SampleFilter.types(fields()).keySet());
        for (int c = 0; c < content.columns().length; c++) {
            OutputColumn column = table.columns().get(c);
            int number = content.columns()[c];
            String stored = number == 0 ? Field.KEY : fields().get(number - 1).name();
            left.remove(stored);
            lines.add("column " + stored + ": " + column.type()
                    + (stored.equals(column.name()) ? "" : ", as " + column.name())
                    + (format == null ? "" : " -> " + format.type(column)));
        }
        if (!left.isEmpty()) {
            lines.add("left out: the columns " + String.join(", ", left));
        }
        return lines;
    }

    /** Says how many of the first stored samples satisfy {@code --where}; nothing without one. Reads these samples. */
    List<String> preview() throws IOException {
        if (content.where() == null) {
            return List.of();
        }
        int[] key = {0};
        ExportSelection selection =
                ExportSelection.of(fields(), new Content(key, new ArrayList<>(), "", "", null, content.where()));
        long seen = 0;
        long excluded = 0;
        try (ObjectStore store = Stores.open(options.source().dataset())) {
            for (String split : splits) {
                long rows = Math.min(PREVIEWED - seen, snapshot.stream(split).liveRows());
                if (rows > 0) {
                    Shard first = new Shard(split, 0, 1, 0, rows);
                    ShardReader reader =
                            ShardReader.of(store, snapshot, selection, new RowOrder.Stored(), first, PREVIEW_MEMORY);
                    while (reader.next() != null) {
                        // Only the numbers matter.
                    }
                    seen += rows;
                    excluded += reader.excluded();
                }
            }
        }
        return List.of("rows   " + Units.count(seen - excluded) + " of the first " + Units.plural(seen, "sample")
                + " satisfy --where");
    }
}
