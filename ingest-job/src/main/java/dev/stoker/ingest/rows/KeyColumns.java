package dev.stoker.ingest.rows;

import dev.stoker.formats.RowColumn;
import dev.stoker.ingest.rows.options.RowIngestOptions;
import dev.stoker.ingest.rows.read.RowMapping;
import java.util.List;
import java.util.Optional;

/** The columns that name a sample. {@link RowMapping#FILE} among them stands for the path of the file. */
final class KeyColumns {
    private KeyColumns() {}

    /** Returns the user's choice, or else the key column of the format. */
    static List<String> of(RowIngestOptions.Columns wanted, RowInspection source) {
        if (!wanted.key().isEmpty()) {
            return wanted.key();
        }
        return source.columns().values().stream()
                .filter(column -> column.role() == RowColumn.Role.KEY)
                .map(RowColumn::name)
                .limit(1)
                .toList();
    }

    /** Checks that the source has the columns, and that none of them has the name for the path of the file. */
    static void require(List<String> key, RowInspection source, List<String> problems) {
        FieldPlan.requireKnown("--key", ofSource(key), source, problems);
        if (key.contains(RowMapping.FILE) && source.columns().containsKey(RowMapping.FILE)) {
            problems.add("option --key: " + RowMapping.FILE + " stands for the path of the file, but the source has a"
                    + " column of this name, too; rename the column in the source");
        }
    }

    /** Returns the column of a key with a single column, whose values are stored as the key. */
    static Optional<String> only(List<String> key) {
        List<String> columns = ofSource(key);
        return columns.size() == 1 ? Optional.of(columns.get(0)) : Optional.empty();
    }

    private static List<String> ofSource(List<String> key) {
        return key.stream().filter(name -> !name.equals(RowMapping.FILE)).toList();
    }

    /** Describes the key of a plan. */
    static String text(RowMapping mapping, RowInspection source) {
        if (mapping.key().isEmpty()) {
            return "the position in the source: " + source.files().get(0).path() + "#0, …";
        }
        List<String> columns = ofSource(mapping.key());
        if (columns.isEmpty()) {
            return "the path of the file";
        }
        boolean isField = mapping.fields().stream().anyMatch(mapped -> columns.contains(mapped.column()));
        return "from " + (columns.size() < mapping.key().size() ? "the path of the file and " : "") + "column "
                + String.join(", ", columns) + (isField ? "" : ", which becomes no field; --columns can name it, too");
    }
}
