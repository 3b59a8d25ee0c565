package dev.stoker.ingest.rows.source;

import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowPart;
import dev.stoker.formats.filter.StatisticsFile;
import dev.stoker.formats.partition.CompletedFile;
import dev.stoker.formats.partition.GivenColumn;
import dev.stoker.schemas.condition.RowExpression;
import dev.stoker.schemas.condition.RowPredicate;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Finds the files and parts of files that can have a row for which {@code --where} is true. Thread-safe.
 *
 * <p>An expression that does not fit the columns excludes nothing here; the plan reports it.
 *
 * @param where the expression, if there is one
 * @param first columns of the first file, without the columns of its directories
 * @param path the columns of directories
 * @param own columns of directories that the first file has too: only reading a file tells its values
 */
public record WhereParts(
        Optional<RowExpression> where, Map<String, RowColumn> first, PathColumns path, Set<String> own) {
    /** Excludes nothing. */
    public static final WhereParts ALL =
            new WhereParts(Optional.empty(), Map.of(), new PathColumns(new LinkedHashMap<>()), Set.of());

    /**
     * The parts of a file that are read.
     *
     * @param parts the parts
     * @param excludedParts number of the others
     * @param excludedRows rows of the others if their number is known
     */
    public record Kept(List<RowPart> parts, long excludedParts, long excludedRows) {}

    /** Returns the files whose directories allow a row. Always keeps the first file, because it has the columns. */
    public List<SourceFile> inDirectories(List<SourceFile> files) throws IOException {
        if (where.isEmpty() || path.types().isEmpty()) {
            return files;
        }
        List<SourceFile> kept = new ArrayList<>(List.of(files.get(0)));
        for (SourceFile file : files.subList(1, files.size())) {
            List<GivenColumn> given = path.of(file).stream()
                    .filter(column -> !own.contains(column.name()))
                    .toList();
            Map<String, RowColumn> columns = new LinkedHashMap<>(first);
            given.forEach(column -> columns.put(column.name(), column.column()));
            Optional<RowPredicate> predicate = bind(columns);
            if (predicate.isEmpty() || CompletedFile.mayMatch(given, predicate.get())) {
                kept.add(file);
            }
        }
        return kept;
    }

    /** Returns the parts of an open file that can have a row. */
    public Kept keep(RowFile file, SourceFile source) throws IOException {
        List<RowPart> all = file.parts();
        if (where.isEmpty()) {
            return new Kept(all, 0, 0);
        }
        List<GivenColumn> absent = new ArrayList<>();
        Map<String, RowColumn> columns = new LinkedHashMap<>();
        file.schema().columns().forEach(column -> columns.put(column.name(), column));
        first.forEach((name, column) -> {
            if (!columns.containsKey(name)) {
                absent.add(GivenColumn.absent(name, column.type()));
                columns.put(name, column);
            }
        });
        Optional<RowPredicate> predicate = bind(columns);
        RowFile completed = CompletedFile.of(file, source.location(), absent);
        if (predicate.isEmpty() || !(completed instanceof StatisticsFile statistics)) {
            return new Kept(all, 0, 0);
        }
        List<RowPart> kept = new ArrayList<>();
        long rows = 0;
        for (RowPart part : all) {
            if (statistics.mayMatch(part, predicate.get())) {
                kept.add(part);
            } else {
                rows += Math.max(0, part.rows());
            }
        }
        return new Kept(kept, (long) all.size() - kept.size(), rows);
    }

    private Optional<RowPredicate> bind(Map<String, RowColumn> columns) {
        try {
            return where.map(expression -> expression.bind(RowColumn.types(columns)));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
