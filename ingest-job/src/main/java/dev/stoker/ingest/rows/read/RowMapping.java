package dev.stoker.ingest.rows.read;

import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowSchema;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.condition.RowExpression;
import dev.stoker.schemas.text.ShellText;
import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Says which columns of the source become which fields.
 *
 * @param fields the columns that become fields, in the order of the dataset's fields
 * @param key columns whose values, joined by {@code /}, are the key, or {@link #FILE}; empty for the position in the
 *     source
 * @param split column whose value is the split; null for the split rule
 * @param where the expression that rows must satisfy; null for all rows
 */
public record RowMapping(
        ArrayList<Mapped> fields,
        ArrayList<String> key,
        @Nullable String split,
        @Nullable String where) implements Serializable {
    /** Stands for the path of the file in a key. */
    public static final String FILE = "__file__";

    /** The index of {@link #FILE}. */
    static final int OF_FILE = -2;

    private static final long serialVersionUID = 1;

    /**
     * A column that becomes a field.
     *
     * @param column name in the source
     * @param field name in the dataset
     * @param type canonical type of the field
     * @param nullable whether a value may be missing
     * @param payload whether the field is payload
     */
    public record Mapped(String column, String field, String type, boolean nullable, boolean payload)
            implements Serializable {
        private static final long serialVersionUID = 1;

        public Field toField() {
            return new Field(field, FieldType.parse(type), nullable, payload);
        }
    }

    /** Returns the fields of a dataset for these columns: small fields first. */
    public List<Field> toFields() {
        List<Field> all = new ArrayList<>();
        fields.stream().filter(m -> !m.payload()).map(Mapped::toField).forEach(all::add);
        fields.stream().filter(Mapped::payload).map(Mapped::toField).forEach(all::add);
        return all;
    }

    /** Returns the names of all columns that are read, each once. */
    public Set<String> columns() {
        Set<String> names = stored();
        condition().map(RowExpression::columns).ifPresent(names::addAll);
        return names;
    }

    /** Returns the names of the columns whose values are in the samples: as fields, keys or splits. */
    public Set<String> stored() {
        Set<String> names = new LinkedHashSet<>();
        fields.forEach(mapped -> names.add(mapped.column()));
        key.stream().filter(name -> !name.equals(FILE)).forEach(names::add);
        if (split != null) {
            names.add(split);
        }
        return names;
    }

    /** Returns the condition that rows must satisfy. */
    Optional<RowExpression> condition() {
        return Optional.ofNullable(where).map(RowExpression::parse);
    }

    /**
     * Finds the columns in a file.
     *
     * @throws IOException if the file lacks a column that must have a value, or has it with another type
     */
    public Bound bind(RowSchema schema, Map<String, String> types, String file) throws IOException {
        Map<String, Integer> places = new HashMap<>();
        for (int i = 0; i < schema.columns().size(); i++) {
            places.putIfAbsent(schema.columns().get(i).name(), i);
        }
        List<String> names = new ArrayList<>();
        List<Integer> selected = new ArrayList<>();
        Map<String, Integer> indexes = new HashMap<>();
        for (String name : columns()) {
            Integer place = places.get(name);
            if (place == null) {
                continue;
            }
            RowColumn column = schema.columns().get(place);
            String expected = types.get(name);
            if (expected != null && !column.type().canonical().equals(expected)) {
                throw new IOException("the column " + name + " of " + file + " has the type "
                        + column.type().canonical() + " (" + column.sourceType() + "), but " + expected
                        + " in the files before it; give all files one type, or ingest them apart");
            }
            indexes.put(name, names.size());
            names.add(name);
            selected.add(place);
        }
        int[] fieldColumns = new int[fields.size()];
        for (int f = 0; f < fieldColumns.length; f++) {
            Mapped mapped = fields.get(f);
            fieldColumns[f] = indexes.getOrDefault(mapped.column(), -1);
            if (fieldColumns[f] < 0 && !mapped.nullable()) {
                throw missing(
                        mapped.column(),
                        file,
                        "leave the column out with --without " + ShellText.word(mapped.column()));
            }
        }
        int[] keyColumns = new int[key.size()];
        for (int k = 0; k < keyColumns.length; k++) {
            keyColumns[k] = key.get(k).equals(FILE) ? OF_FILE : indexes.getOrDefault(key.get(k), -1);
            if (keyColumns[k] == -1) {
                throw missing(key.get(k), file, "the key needs it: add it");
            }
        }
        if (split != null && !indexes.containsKey(split)) {
            throw missing(split, file, "it gives the splits: add it");
        }
        return new Bound(
                selected.stream().mapToInt(Integer::intValue).toArray(),
                fieldColumns,
                keyColumns,
                Optional.ofNullable(split).map(indexes::get).orElse(-1));
    }

    private static IOException missing(String column, String file, String step) {
        return new IOException("the file " + file + " has no column " + column + ", which the files before it have; "
                + step + ", or ingest the file apart");
    }

    /**
     * The columns of a mapping in one file.
     *
     * @param selected indexes into the file's columns
     * @param fields for each mapped field its index in {@code selected}, or -1 for null
     * @param key the same for the key, or {@link #OF_FILE}
     * @param split the same for the split, or -1
     */
    public record Bound(int[] selected, int[] fields, int[] key, int split) {}
}
