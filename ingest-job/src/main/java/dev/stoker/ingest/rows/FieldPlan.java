package dev.stoker.ingest.rows;

import dev.stoker.connectors.files.FileTree;
import dev.stoker.formats.HintedFormat;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.convert.Conversion;
import dev.stoker.formats.json.JsonLinesFormat;
import dev.stoker.ingest.rows.content.FileContents;
import dev.stoker.ingest.rows.options.RowIngestOptions;
import dev.stoker.ingest.rows.read.ListTypes;
import dev.stoker.ingest.rows.read.RowMapping;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.ingest.spec.SplitRule;
import dev.stoker.ingest.spec.TargetDataset;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.condition.RowExpression;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.text.ShellText;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Decides which columns of a source become which fields of a dataset.
 *
 * @param mapping of columns to fields
 * @param types canonical type of each column that is read
 * @param info of the dataset, which may not exist yet
 */
record FieldPlan(RowMapping mapping, TreeMap<String, String> types, DatasetInfo info) {
    /** A field with a larger average size is payload. */
    private static final long PAYLOAD_BYTES = 1024;

    /**
     * Creates the plan.
     *
     * @param existing the dataset, if it exists
     * @param rule assigns samples to splits
     * @throws InvalidIngestException with all problems
     */
    static FieldPlan of(
            RowIngestOptions options, RowInspection source, Optional<DatasetInfo> existing, SplitRule rule) {
        List<String> problems = new ArrayList<>();
        RowIngestOptions.Columns wanted = options.columns();
        requireKnown("--columns", wanted.taken().orElse(List.of()), source, problems);
        wanted.without().stream()
                .filter(name -> source.found().refused().stream()
                        .noneMatch(column -> column.name().equals(name)))
                .filter(name -> !source.found().ignored().contains(name))
                .forEach(name -> requireKnown("--without", List.of(name), source, problems));
        requireKnown("--rename", wanted.renamed().keySet(), source, problems);
        KeyColumns.require(wanted.key(), source, problems);
        requireContents(wanted.contents(), source, problems);
        List<String> typed = wanted.types().keySet().stream()
                .filter(name -> !wanted.without().contains(name))
                .toList();
        requireKnown("--type", typed, source, problems);
        wanted.label().ifPresent(name -> requireKnown("--label", List.of(name), source, problems));
        wanted.split().ifPresent(name -> requireKnown("--split-by", List.of(name), source, problems));
        for (RowSchema.RefusedColumn column : source.found().refused()) {
            // A chosen column that no file has is reported above.
            boolean isChosen = wanted.taken()
                    .map(names ->
                            names.contains(column.name()) && source.found().isPartial(column))
                    .orElse(true);
            if (isChosen && !wanted.without().contains(column.name())) {
                problems.add("the column " + column.name()
                        + source.found().placeOf(column.name()) + " ("
                        + (column.sourceType().isEmpty() ? "no type" : column.sourceType())
                        + ") cannot become a field: "
                        + column.reason() + (column.reason().contains("; ") ? "; or" : ";")
                        + " leave it out with --without " + ShellText.word(column.name()));
            }
        }
        if (wanted.taken().isEmpty()) {
            for (String name : source.found().doubled()) {
                if (!wanted.without().contains(name)) {
                    problems.add("two columns are named " + name + "; rename one in the source, leave both out with"
                            + " --without " + ShellText.word(name)
                            + ", or name the columns to take with --columns, which takes the first of them");
                }
            }
        }
        List<String> key = KeyColumns.of(wanted, source);
        boolean isStrict = options.tree().errors() == FileTree.Errors.FAIL;
        List<RowColumn> taken = taken(wanted, key, source);
        List<RowMapping.Mapped> fields = new ArrayList<>();
        Set<String> names = new LinkedHashSet<>();
        Map<String, FieldType> readAs = new LinkedHashMap<>();
        for (RowColumn column : taken) {
            String name = wanted.renamed().getOrDefault(column.name(), column.name());
            FieldType type = type(column, wanted, existing.flatMap(info -> info.field(name)));
            // A format without types reads a value as the type of its column already.
            boolean isConverted =
                    !(source.format() instanceof HintedFormat) && source.found().isReadableAs(column.name(), type);
            FieldType read = isConverted ? type : column.type();
            boolean isOther = !(source.format() instanceof HintedFormat)
                    && Conversion.of(column.type(), type) == Conversion.IMPOSSIBLE;
            if (isOther || Conversion.changesMeaning(column.type(), type)) {
                problems.add("the column " + column.name() + ": its values are " + column.type()
                        + ", which a field of type " + type + " does not hold; "
                        + (existing.isEmpty()
                                        && wanted.types().containsKey(column.name())
                                        && source.found().isReadableAs(column.name(), column.type())
                                ? "declare its own with "
                                        + ShellText.pair(
                                                "--type",
                                                column.name(),
                                                column.type().canonical()) + ", or "
                                : "")
                        + "leave the column out with --without " + ShellText.word(column.name()));
            }
            readAs.put(column.name(), read);
            ListTypes.misfit(read, type)
                    .ifPresent(problem -> problems.add("the column " + column.name() + ": " + problem
                            + (source.format() instanceof HintedFormat
                                    ? "; " + ShellText.pair("--type", column.name(), type.toString())
                                            + " reads them as this type"
                                    : "")));
            if (source.format() instanceof JsonLinesFormat && isText(column.type()) && isBytes(type)) {
                problems.add("the column " + column.name() + ": bytes in JSON are base64; "
                        + ShellText.pair("--type", column.name(), type.toString()) + " reads them as this type");
            }
            if (isStrict && source.nullItems().contains(column.name())) {
                ListTypes.nullItems(column, type).ifPresent(problems::add);
            }
            try {
                Field field = new Field(
                        name, type, column.nullable(), isPayload(column, name, type, wanted, source, existing));
                if (!names.add(name)) {
                    problems.add("two fields are named " + name + "; give one of them another name with "
                            + ShellText.pair("--rename", column.name(), "NAME"));
                }
                fields.add(new RowMapping.Mapped(
                        column.name(), name, type.canonical(), field.nullable(), field.payload()));
            } catch (IllegalArgumentException e) {
                problems.add("the column " + column.name() + ": " + e.getMessage()
                        + (name.equals(Field.KEY)
                                ? "; take it as the keys with " + ShellText.names("--key", List.of(column.name()))
                                        + ", or"
                                : ";")
                        + " give the field another name with " + ShellText.pair("--rename", column.name(), "NAME"));
            }
        }
        wanted.payload()
                .ifPresent(asked -> asked.stream()
                        .filter(name -> !names.contains(name))
                        .forEach(name -> problems.add("option --payload: there is no field " + name + "; there are "
                                + String.join(", ", names))));
        if (fields.isEmpty() && problems.isEmpty()) {
            problems.add("no column would become a field: the source has "
                    + (source.columns().isEmpty() ? "no columns" : "the columns " + shown(source))
                    + KeyColumns.only(key)
                            .filter(source.columns()::containsKey)
                            .map(name -> ", and " + name + " is the key; make a field of it, too, with "
                                    + ShellText.names("--columns", List.of(name)))
                            .orElse(""));
        }
        existing.ifPresent(info -> requireFit(info, fields, problems));
        RowMapping mapping = new RowMapping(
                new ArrayList<>(fields),
                new ArrayList<>(key),
                wanted.split().orElse(null),
                wanted.where().map(RowExpression::toString).orElse(null));
        mapping.columns()
                .forEach(name -> source.found()
                        .conflict(
                                name,
                                Optional.ofNullable(wanted.types().get(name)).map(FieldType::parse))
                        .ifPresent(problems::add));
        requireWhere(wanted, source, readAs, problems);
        if (!problems.isEmpty()) {
            throw new InvalidIngestException(problems);
        }
        TreeMap<String, String> types = new TreeMap<>();
        for (String name : mapping.columns()) {
            if (!source.reading().path().types().containsKey(name)
                    || source.ownPathColumns().contains(name)) {
                types.put(
                        name,
                        readAs.getOrDefault(name, source.column(name).type()).canonical());
            }
        }
        // A format without a description must know these columns, or they would be unexpected.
        if (source.format() instanceof HintedFormat) {
            wanted.without().stream()
                    .filter(source.columns()::containsKey)
                    .filter(name -> !source.reading().path().types().containsKey(name)
                            || source.ownPathColumns().contains(name))
                    .forEach(name ->
                            types.putIfAbsent(name, source.column(name).type().canonical()));
        }
        for (FileContents.Column content : wanted.contents().columns()) {
            types.putIfAbsent(
                    content.pathName(), source.column(content.pathName()).type().canonical());
        }
        DatasetInfo info = existing.orElseGet(() -> TargetDataset.describe(
                options.name(),
                mapping.toFields(),
                classes(mapping, source),
                options.work().chunkSizeBytes(),
                rule));
        return new FieldPlan(mapping, types, info);
    }

    /** Returns the classes that the source states, by field. */
    private static Map<String, List<String>> classes(RowMapping mapping, RowInspection source) {
        Map<String, List<String>> classes = new LinkedHashMap<>();
        for (RowMapping.Mapped mapped : mapping.fields()) {
            List<String> names = source.column(mapped.column()).classes();
            if (!names.isEmpty() && mapped.toField().type() == ScalarType.CATEGORICAL) {
                classes.put(mapped.field(), names);
            }
        }
        return classes;
    }

    static void requireKnown(String option, Iterable<String> names, RowInspection source, List<String> problems) {
        for (String name : names) {
            if (!source.columns().containsKey(name)) {
                problems.add("option " + option + ": the source has no column " + name
                        + source.found().refused().stream()
                                .filter(column -> column.name().equals(name))
                                .findFirst()
                                .map(column -> " that can become a field: " + column.reason())
                                .orElse("; it has " + shown(source)));
            }
        }
    }

    /** Checks that the columns with paths exist, and that the fields with contents are new. */
    private static void requireContents(FileContents contents, RowInspection source, List<String> problems) {
        for (FileContents.Column content : contents.columns()) {
            RowColumn column = source.columns().get(content.pathName());
            if (column == null) {
                requireKnown("--read", List.of(content.pathName()), source, problems);
            }
            if (column != null && column.type() != ScalarType.UTF8) {
                problems.add("option --read: the column " + content.name() + " is "
                        + column.type().canonical() + "; paths are text");
            }
            if (source.found().doubled().contains(content.field())) {
                problems.add("option --read: the source has a column " + content.field() + " already; choose another"
                        + " name for the field");
            }
        }
    }

    /**
     * Checks that the columns of {@code --where} exist once, and that their types fit.
     *
     * @param readAs the types as which columns are read, if not their own
     */
    private static void requireWhere(
            RowIngestOptions.Columns wanted,
            RowInspection source,
            Map<String, FieldType> readAs,
            List<String> problems) {
        if (wanted.where().isEmpty()) {
            return;
        }
        RowExpression where = wanted.where().get();
        for (String name : where.columns()) {
            if (source.found().doubled().contains(name)) {
                problems.add("option --where: two columns are named " + name + "; rename one in the source");
            }
        }
        if (source.columns().keySet().containsAll(where.columns())) {
            try {
                Map<String, RowColumn> columns = new LinkedHashMap<>();
                source.columns().forEach((name, column) -> columns.put(name, read(column, readAs)));
                where.bind(RowColumn.types(columns));
            } catch (IllegalArgumentException e) {
                problems.add("option --where: " + e.getMessage());
            }
        } else {
            requireKnown("--where", where.columns(), source, problems);
        }
    }

    private static RowColumn read(RowColumn column, Map<String, FieldType> readAs) {
        return column.with(readAs.getOrDefault(column.name(), column.type()), column.nullable());
    }

    private static String shown(RowInspection source) {
        List<String> names = new ArrayList<>(source.columns().keySet());
        return names.size() <= 20
                ? String.join(", ", names)
                : String.join(", ", names.subList(0, 20)) + ", … (" + names.size() + ")";
    }

    private static List<RowColumn> taken(RowIngestOptions.Columns wanted, List<String> key, RowInspection source) {
        if (wanted.taken().isPresent()) {
            return Stream.concat(wanted.taken().get().stream(), wanted.contents().fields().stream())
                    .distinct()
                    .filter(source.columns()::containsKey)
                    .map(source.columns()::get)
                    .toList();
        }
        Map<String, RowColumn> all = new LinkedHashMap<>(source.columns());
        // The key and the split are stored as such.
        KeyColumns.only(key).ifPresent(all::remove);
        wanted.split().ifPresent(all::remove);
        wanted.without().forEach(all::remove);
        return List.copyOf(all.values());
    }

    private static FieldType type(RowColumn column, RowIngestOptions.Columns wanted, Optional<Field> field) {
        if (wanted.types().containsKey(column.name())) {
            return FieldType.parse(wanted.types().get(column.name()));
        }
        if (wanted.label().filter(column.name()::equals).isPresent()) {
            return ScalarType.CATEGORICAL;
        }
        return field.map(Field::type).orElse(column.type());
    }

    private static boolean isText(FieldType type) {
        return (type instanceof ListType list ? list.element() : type) == ScalarType.UTF8;
    }

    private static boolean isBytes(FieldType type) {
        return (type instanceof ListType list ? list.element() : type) == ScalarType.BINARY;
    }

    private static boolean isPayload(
            RowColumn column,
            String name,
            FieldType type,
            RowIngestOptions.Columns wanted,
            RowInspection source,
            Optional<DatasetInfo> existing) {
        if (existing.isPresent()) {
            return existing.get().payloadFields().stream()
                    .anyMatch(field -> field.name().equals(name));
        }
        if (wanted.payload().isPresent()) {
            return wanted.payload().get().contains(name);
        }
        boolean isLarge =
                column.role() != RowColumn.Role.SMALL && source.sizes().getOrDefault(column.name(), 0L) > PAYLOAD_BYTES;
        return type.mayBePayload() && (isLarge || column.role() == RowColumn.Role.PAYLOAD);
    }

    private static void requireFit(DatasetInfo info, List<RowMapping.Mapped> fields, List<String> problems) {
        for (RowMapping.Mapped mapped : fields) {
            TargetDataset.misfit(info, mapped.field(), mapped.type())
                    .ifPresent(problem -> problems.add("the column " + mapped.column() + ": " + problem + "; "
                            + info.field(mapped.field())
                                    .map(own -> "declare this type with "
                                            + ShellText.pair(
                                                    "--type",
                                                    mapped.column(),
                                                    own.type().canonical()))
                                    .orElse("give it the name of one of them with "
                                            + ShellText.pair("--rename", mapped.column(), "NAME"))
                            + ", or leave the column out with --without " + ShellText.word(mapped.column())));
        }
        for (Field field : info.fields()) {
            if (!field.nullable() && fields.stream().noneMatch(m -> m.field().equals(field.name()))) {
                problems.add("the dataset's field " + field.name() + " ("
                        + field.type().canonical() + ") requires a value, and no column gives it; name the column"
                        + " that does with " + ShellText.pair("--rename", "COLUMN", field.name()));
            }
        }
    }

    /** Describes the plan as text. */
    List<String> lines(RowIngestOptions options, RowInspection source) {
        List<String> lines = new ArrayList<>();
        for (Field field : info.fields()) {
            Optional<RowMapping.Mapped> mapped = mapping.fields().stream()
                    .filter(m -> m.field().equals(field.name()))
                    .findFirst();
            lines.add(
                    TargetDataset.line(field) + mapped.map(m -> from(m, source)).orElse(", empty"));
        }
        lines.add("key    " + KeyColumns.text(mapping, source));
        return lines;
    }

    private static String from(RowMapping.Mapped mapped, RowInspection source) {
        RowColumn column = source.column(mapped.column());
        return " (from " + (mapped.column().equals(mapped.field()) ? "" : mapped.column() + ": ") + column.sourceType()
                + ")";
    }
}
