package dev.stoker.ingest.rows;

import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowSchema;
import dev.stoker.ingest.spec.ShellText;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Collects the columns of all files of a source. A column that a file lacks is nullable. For one thread. */
final class SourceColumns {
    private final Map<String, RowColumn> columns = new LinkedHashMap<>();
    private final Map<String, RowSchema.RefusedColumn> refused = new LinkedHashMap<>();
    private final Map<String, String> places = new HashMap<>();
    private final Set<String> doubled = new LinkedHashSet<>();
    private final Map<String, String> conflicts = new HashMap<>();
    private final Set<String> ignored = new LinkedHashSet<>();
    private final List<String> warnings;
    private boolean isEmpty = true;

    /** @param warnings about the source, as lines */
    SourceColumns(List<String> warnings) {
        this.warnings = warnings;
    }

    /** Returns warnings about the source. */
    List<String> warnings() {
        return warnings;
    }

    /** Adds the columns of a file. */
    void add(RowSchema schema, SourceFile file) {
        Map<String, RowColumn> own = new LinkedHashMap<>();
        for (RowColumn column : schema.columns()) {
            if (own.putIfAbsent(column.name(), column) != null) {
                doubled.add(column.name());
            }
        }
        for (RowColumn column : own.values()) {
            RowColumn known = columns.get(column.name());
            if (known == null) {
                columns.put(column.name(), nullable(column, column.nullable() || !isEmpty));
            } else if (!known.type().equals(column.type())) {
                conflicts.putIfAbsent(
                        column.name(),
                        "the column " + column.name() + " of " + file.location() + " has the type "
                                + column.type().canonical() + " (" + column.sourceType() + "), but "
                                + known.type().canonical() + " in the files before it; ingest the files apart, or"
                                + " leave the column out with --without " + ShellText.word(column.name()));
            } else {
                columns.put(column.name(), nullable(known, known.nullable() || column.nullable()));
            }
        }
        columns.replaceAll((name, column) -> own.containsKey(name) ? column : nullable(column, true));
        for (RowSchema.RefusedColumn column : schema.refused()) {
            refused.putIfAbsent(column.name(), column);
            places.putIfAbsent(column.name(), file.path());
        }
        isEmpty = false;
    }

    private static RowColumn nullable(RowColumn column, boolean nullable) {
        return new RowColumn(
                column.name(), column.type(), nullable, column.sourceType(), column.role(), column.classes());
    }

    /** Returns the columns by name, in the order in which the files have them. */
    Map<String, RowColumn> columns() {
        return Collections.unmodifiableMap(columns);
    }

    /** Notes columns that the files have, but that nobody wants. Formats that infer their columns do not give them. */
    void ignore(Collection<String> names) {
        ignored.addAll(names);
    }

    /** Returns the names of these columns. */
    Set<String> ignored() {
        return Collections.unmodifiableSet(ignored);
    }

    /** Returns the columns that cannot become fields. */
    List<RowSchema.RefusedColumn> refused() {
        return new ArrayList<>(refused.values());
    }

    /** Returns the first file with a column that cannot become a field, as a part of a message. */
    String placeOf(String refusedColumn) {
        String file = places.get(refusedColumn);
        return file == null ? "" : " in " + file;
    }

    /** Returns the names that occur twice in a file, of which only the first is taken. */
    Set<String> doubled() {
        return Collections.unmodifiableSet(doubled);
    }

    /** Returns the problem with a column that has different types in different files. */
    Optional<String> conflict(String column) {
        return Optional.ofNullable(conflicts.get(column));
    }
}
