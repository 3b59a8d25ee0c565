package dev.stoker.ingest.rows.source;

import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.convert.Conversion;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.text.ShellText;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Collects the columns of all files of a source. A column that a file lacks is nullable. For one thread. */
public final class SourceColumns {
    private final Map<String, RowColumn> columns = new LinkedHashMap<>();
    private final Map<String, RowSchema.RefusedColumn> refused = new LinkedHashMap<>();
    private final Set<String> nullLists = new HashSet<>();

    /** The refused columns for which a file has no other column of this name. */
    private final Set<String> unread = new HashSet<>();

    private final Map<String, String> declared = new HashMap<>();
    private final Map<String, String> places = new HashMap<>();
    private final Set<String> doubled = new LinkedHashSet<>();

    /** The different types of each column, with the words of the format and the first file. */
    private final Map<String, Map<FieldType, String>> seen = new HashMap<>();

    private final Set<String> ignored = new LinkedHashSet<>();
    private final List<String> warnings;
    private boolean isEmpty = true;

    /** @param warnings about the source, as lines */
    public SourceColumns(List<String> warnings) {
        this.warnings = warnings;
    }

    /** Returns warnings about the source. */
    public List<String> warnings() {
        return warnings;
    }

    /** Adds a line about the source. */
    public void warn(String line) {
        warnings.add(line);
    }

    /** Adds the columns of a file. */
    public void add(RowSchema schema, SourceFile file) {
        Map<String, RowColumn> own = new LinkedHashMap<>();
        for (RowColumn column : schema.columns()) {
            if (own.putIfAbsent(column.name(), column) != null) {
                doubled.add(column.name());
            }
        }
        for (RowColumn column : own.values()) {
            RowColumn known = columns.get(column.name());
            boolean isNew = seen.computeIfAbsent(column.name(), name -> new LinkedHashMap<>())
                            .putIfAbsent(column.type(), column.sourceType() + ") in " + file.location())
                    == null;
            if (known == null) {
                columns.put(column.name(), nullable(column, column.nullable() || !isEmpty));
            } else {
                FieldType type =
                        isNew ? Conversion.common(known.type(), column.type()).orElse(known.type()) : known.type();
                columns.put(column.name(), typed(known, type, known.nullable() || column.nullable()));
            }
        }
        columns.replaceAll((name, column) -> own.containsKey(name) ? column : nullable(column, true));
        for (RowSchema.RefusedColumn column : schema.refused()) {
            refused.putIfAbsent(column.name(), column);
            places.putIfAbsent(column.name(), file.path());
            if (!own.containsKey(column.name())) {
                unread.add(column.name());
            }
        }
        schema.nullLists().forEach(column -> nullLists.add(column.name()));
        isEmpty = false;
    }

    /** Adds the columns of which all values, or all items, are null, if the user has declared their types. */
    public void complete(Map<String, String> types) {
        declared.putAll(types);
        for (RowSchema.RefusedColumn column : refused.values()) {
            if (!types.containsKey(column.name())) {
                continue;
            }
            FieldType type = FieldType.parse(types.get(column.name()));
            if (column.isNull() || (nullLists.contains(column.name()) && Conversion.isList(type))) {
                columns.computeIfAbsent(
                        column.name(),
                        name -> new RowColumn(name, type, true, column.sourceType(), RowColumn.Role.NONE));
            }
        }
    }

    private static RowColumn nullable(RowColumn column, boolean nullable) {
        return typed(column, column.type(), nullable);
    }

    private static RowColumn typed(RowColumn column, FieldType type, boolean nullable) {
        return column.with(type, nullable);
    }

    /** Returns the columns by name, in the order in which the files have them. */
    public Map<String, RowColumn> columns() {
        return Collections.unmodifiableMap(columns);
    }

    /** Notes columns that the files have, but that nobody wants. Formats that infer their columns do not give them. */
    public void ignore(Collection<String> names) {
        ignored.addAll(names);
    }

    /** Returns the names of these columns. */
    public Set<String> ignored() {
        return Collections.unmodifiableSet(ignored);
    }

    /** Returns the columns that cannot become fields. */
    public List<RowSchema.RefusedColumn> refused() {
        return refused.values().stream()
                .filter(column -> !isTyped(column))
                .map(this::withType)
                .toList();
    }

    /** Returns whether a column cannot be read from one file, although another file has it. */
    public boolean isPartial(RowSchema.RefusedColumn column) {
        return unread.contains(column.name()) && columns.containsKey(column.name());
    }

    /** Returns whether the type of a refused column is free, and known. */
    private boolean isTyped(RowSchema.RefusedColumn column) {
        RowColumn known = columns.get(column.name());
        boolean isNullList = nullLists.contains(column.name());
        return known != null && (isNullList ? Conversion.isList(known.type()) : column.isNull());
    }

    /** Returns the types of the columns that are lists of nulls in a file, if they are known. */
    public Map<String, FieldType> nullListTypes() {
        Map<String, FieldType> types = new HashMap<>();
        refused.values().stream()
                .filter(column -> nullLists.contains(column.name()) && isTyped(column))
                .map(column -> Objects.requireNonNull(columns.get(column.name()), "a typed column"))
                .forEach(column -> types.put(column.name(), column.type()));
        return types;
    }

    /** Names the type that is no list, if lists whose items are null were to have it. */
    private RowSchema.RefusedColumn withType(RowSchema.RefusedColumn column) {
        RowColumn known = columns.get(column.name());
        String own = declared.get(column.name());
        if (!nullLists.contains(column.name()) || (known == null && own == null)) {
            return column;
        }
        String type = known == null ? ", but its declared type is " + own : ", but in other files " + known.type();
        return new RowSchema.RefusedColumn(
                column.name(),
                column.sourceType(),
                "it is a list of nulls" + type + ", which is no list; "
                        + (known == null
                                ? "declare a list, such as " + ShellText.pair("--type", column.name(), "float64[]")
                                : "ingest the files apart"));
    }

    /** Returns the first file with a column that cannot become a field, as a part of a message. */
    public String placeOf(String refusedColumn) {
        String file = places.get(refusedColumn);
        return file == null ? "" : " in " + file;
    }

    /** Returns the names that occur twice in a file, of which only the first is taken. */
    public Set<String> doubled() {
        return Collections.unmodifiableSet(doubled);
    }

    /** Returns whether the column of each file can be read as a type. Numbers of several files are not narrowed. */
    public boolean isReadableAs(String column, FieldType type) {
        Set<FieldType> types = seen.getOrDefault(column, Map.of()).keySet();
        return types.stream().allMatch(own -> isReadableAs(own, type, types.size() > 1));
    }

    private static boolean isReadableAs(FieldType own, FieldType type, boolean isMixed) {
        Conversion conversion = Conversion.of(own, type);
        return (conversion == Conversion.NONE || conversion.isRead()) && !(isMixed && Conversion.narrows(own, type));
    }

    /**
     * Returns the problem with a column that has different types in different files.
     *
     * @param declared the type that the user wants
     */
    public Optional<String> conflict(String column, Optional<FieldType> declared) {
        Map<FieldType, String> own = seen.getOrDefault(column, Map.of());
        if (own.size() < 2) {
            return Optional.empty();
        }
        if (declared.isPresent()) {
            return own.entrySet().stream()
                    .filter(entry -> !isReadableAs(entry.getKey(), declared.get(), true))
                    .findFirst()
                    .map(entry -> "the column " + column + " is "
                            + entry.getKey().canonical() + " (" + entry.getValue()
                            + ", which the declared type "
                            + declared.get().canonical() + " does not hold; " + typeAdvice(column)
                            + "ingest the files apart, or leave the column out with --without "
                            + ShellText.word(column));
        }
        FieldType common = Objects.requireNonNull(columns.get(column), "a column with types")
                .type();
        if (isReadableAs(column, common) && own.keySet().stream().noneMatch(type -> isChecked(type, common))) {
            return Optional.empty();
        }
        List<String> types = new ArrayList<>();
        own.forEach((type, place) -> types.add(type.canonical() + " (" + place));
        return Optional.of("the column " + column + " is " + String.join(", and ", types)
                + "; " + typeAdvice(column) + "ingest the files apart, or leave the column out with --without "
                + ShellText.word(column));
    }

    /** Returns the option for a type as which the column of each file can be read; empty if there is none. */
    private String typeAdvice(String column) {
        Stream<FieldType> own = seen.getOrDefault(column, Map.of()).keySet().stream();
        Stream<FieldType> others = Stream.of(ScalarType.INT64, ScalarType.FLOAT64, ScalarType.UTF8);
        return Stream.concat(own, others)
                .filter(type -> isReadableAs(column, type))
                .findFirst()
                .map(type -> "declare one type for all files with " + ShellText.pair("--type", column, type.canonical())
                        + ", ")
                .orElse("");
    }

    /** Returns whether only the user can decide for a conversion, because it can fail for a value. */
    private static boolean isChecked(FieldType type, FieldType common) {
        return Conversion.of(type, common) == Conversion.CHECKED
                && !Conversion.common(type, common).equals(Optional.of(common));
    }
}
