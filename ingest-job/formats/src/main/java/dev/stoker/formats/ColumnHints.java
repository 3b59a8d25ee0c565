package dev.stoker.formats;

import dev.stoker.schemas.arrow.types.FieldType;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Names and types of the columns of a file whose format does not describe them. The user or an earlier file gave them.
 *
 * @param names the names of all columns in their order, for a file without a header; empty if the file names them
 * @param types types of columns by name, instead of the types that the first rows suggest
 * @param inferred the names in {@code types} whose type the first rows of another file suggested. Their values must be
 *     written as values of that type are; of the other columns, which the user declared, every value is converted that
 *     can be
 * @param others what to do with columns that {@code types} does not name
 */
public record ColumnHints(List<String> names, Map<String, FieldType> types, Set<String> inferred, Others others) {
    /** What to do with columns without a type. */
    public enum Others {
        /** Their types come from the first rows. A column that only later rows have is an error that names it. */
        INFER,
        /** As {@link #INFER}, for a user who names the wanted columns: all may be there, also odd ones. */
        OFFER,
        /**
         * The first rows are not looked at: the columns with a type are the schema. Another column is an error that
         * names it. For the second and later files of a dataset, and for later readers of the first.
         */
        REFUSE,
        /** As {@link #REFUSE}, but other columns are left out, because the user named the wanted ones. */
        IGNORE;

        /** Returns whether types come from the first rows. */
        public boolean areInferred() {
            return this == INFER || this == OFFER;
        }
    }

    /** Nothing is known. */
    public static final ColumnHints NONE = types(Map.of());

    public ColumnHints {
        names = List.copyOf(names);
        types = Collections.unmodifiableMap(new LinkedHashMap<>(types));
        inferred = Set.copyOf(inferred);
    }

    /** Creates hints with these types, which the user declared; the other columns are inferred. */
    public static ColumnHints types(Map<String, FieldType> types) {
        return new ColumnHints(List.of(), types, Set.of(), Others.INFER);
    }

    /**
     * Returns hints with which other files, and later readers of the same file, get these columns.
     *
     * @param columns the wanted columns of a file that was opened with these hints
     * @throws IllegalArgumentException if a name is there twice, as types belong to names
     */
    public ColumnHints fixed(List<RowColumn> columns, Others others) {
        Map<String, FieldType> fixed = new LinkedHashMap<>();
        for (RowColumn column : columns) {
            if (fixed.put(column.name(), column.type()) != null) {
                throw new IllegalArgumentException("there are two columns " + column.name() + "; rename one of them");
            }
        }
        Set<String> notDeclared = new HashSet<>(fixed.keySet());
        notDeclared.removeAll(declared());
        return new ColumnHints(names, fixed, notDeclared, others);
    }

    /** Returns the names of the columns whose type the user declared. */
    public Set<String> declared() {
        Set<String> declared = new HashSet<>(types.keySet());
        declared.removeAll(inferred);
        return declared;
    }
}
