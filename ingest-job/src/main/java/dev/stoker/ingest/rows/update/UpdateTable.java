package dev.stoker.ingest.rows.update;

import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.NameFilter;
import dev.stoker.connectors.files.listing.UnreadableException;
import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ColumnHints;
import dev.stoker.formats.HintedFormat;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowFormat;
import dev.stoker.formats.RowPart;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.convert.Conversion;
import dev.stoker.formats.convert.ConvertedFile;
import dev.stoker.formats.detection.Formats;
import dev.stoker.ingest.rows.content.TextSink;
import dev.stoker.ingest.rows.options.RowIngestOptions;
import dev.stoker.ingest.rows.options.RowSources;
import dev.stoker.ingest.rows.options.SourceFormat;
import dev.stoker.ingest.rows.read.RowFiles;
import dev.stoker.ingest.rows.source.SourceFile;
import dev.stoker.ingest.rows.source.SourceReader;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.ingest.spec.TargetDataset;
import dev.stoker.metadata.update.NewValues;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.AddedFields;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.text.ShellText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Reads the table of {@code stoker update}: files with rows in one of the formats of an ingest. One column has the keys
 * of samples, the others have new values of the fields with their names. The table is in memory as {@link NewValues}.
 */
public final class UpdateTable {

    /** Names in an error. */
    private static final int SHOWN = 20;

    /**
     * What the user says.
     *
     * @param location a file, directory or pattern
     * @param format the name of the format; empty to detect it
     * @param key the column with the keys
     * @param columns the columns with values, beside the added ones; empty for all but the key
     * @param added by name and in the order to add them, the types of fields that the dataset may not have yet; empty
     *     for the type of the column
     */
    public record Request(
            String location,
            Optional<String> format,
            String key,
            Set<String> columns,
            Map<String, Optional<FieldType>> added) {
        public Request {
            columns = Set.copyOf(columns);
            added = Collections.unmodifiableMap(new LinkedHashMap<>(added));
        }
    }

    private final Request request;
    private final DatasetInfo info;
    private final List<SourceFile> files;
    private final RowFormat format;
    private final TextSink keyText = new TextSink("a key");

    private UpdateTable(Request request, DatasetInfo info) throws IOException {
        this.request = request;
        this.info = info;
        RowIngestOptions.Tree rules = new RowIngestOptions.Tree(
                FileTree.Hidden.SKIP, FileTree.Links.FOLLOW, FileTree.Errors.FAIL, NameFilter.ALL);
        this.files = RowSources.list(List.of(RowSources.normalize(request.location())), rules, Long.MAX_VALUE);
        this.format = request.format().isPresent()
                ? Formats.named(request.format().get())
                : SourceFormat.ofTable(request.location(), files);
    }

    /**
     * Reads a table.
     *
     * @param info the dataset with the fields of its newest version
     * @throws InvalidIngestException if its columns do not fit the dataset, with all problems
     * @throws IOException if it cannot be read, or if a value does not fit; names file, row and column
     */
    public static NewValues read(Request request, DatasetInfo info) throws IOException {
        return new UpdateTable(request, info).read();
    }

    private NewValues read() throws IOException {
        AddedFields added = added();
        List<Field> fields = fields(info.with(added));
        NewValues values = new NewValues(fields, added);
        UpdateRows rows = new UpdateRows(fields, values, info.id(), request.location());
        for (SourceFile file : files) {
            try (SourceReader bytes = SourceReader.open(file);
                    RowFile opened = open(bytes, fields)) {
                int[] selected = bind(file, opened.schema(), fields);
                for (RowPart part : opened.parts()) {
                    try (RowReader reader = opened.read(part, selected)) {
                        while (reader.next()) {
                            add(file, reader, rows, fields);
                        }
                    }
                }
            }
        }
        rows.flush();
        return values;
    }

    /** Returns the fields that the dataset does not have yet, with the types of the columns of the first file. */
    private AddedFields added() throws IOException {
        List<String> problems = new ArrayList<>();
        List<Field> fields = new ArrayList<>();
        for (Map.Entry<String, Optional<FieldType>> wanted : request.added().entrySet()) {
            String name = wanted.getKey();
            Optional<Field> own = info.field(name);
            if (own.isEmpty()) {
                added(name, wanted.getValue(), problems).ifPresent(fields::add);
            } else if (wanted.getValue().isPresent()
                    && !wanted.getValue().get().equals(own.get().type())) {
                problems.add("option --add: the dataset has a field " + name + " of type "
                        + own.get().type().canonical() + ", not "
                        + wanted.getValue().get().canonical() + "; leave the type out");
            }
        }
        if (!problems.isEmpty()) {
            throw new InvalidIngestException(problems);
        }
        return AddedFields.of(fields);
    }

    private Optional<Field> added(String name, Optional<FieldType> type, List<String> problems) throws IOException {
        // Formats that detect types read values as the type that was asked for.
        Map<String, FieldType> asked =
                type.map(given -> Map.of(name, stored(given))).orElse(Map.of());
        try (SourceReader bytes = SourceReader.open(files.get(0));
                RowFile rows = open(bytes, asked)) {
            int place = place(files.get(0), rows.schema(), name, problems);
            if (place < 0) {
                return Optional.empty();
            }
            return Optional.of(Field.nullable(
                    name, type.orElse(rows.schema().columns().get(place).type())));
        } catch (IllegalArgumentException e) {
            problems.add("option --add: " + ErrorText.of(e));
            return Optional.empty();
        }
    }

    /** Returns the fields to update, in dataset order, by the columns of the first file. */
    private List<Field> fields(DatasetInfo all) throws IOException {
        List<String> problems = new ArrayList<>();
        Set<String> names = new LinkedHashSet<>(request.columns());
        requireKey();
        try (SourceReader bytes = SourceReader.open(files.get(0));
                RowFile rows = open(bytes, Map.of())) {
            if (!names.isEmpty()) {
                names.addAll(request.added().keySet());
            } else {
                for (RowColumn column : rows.schema().columns()) {
                    names.add(column.name());
                }
                for (RowSchema.RefusedColumn column : rows.schema().refused()) {
                    names.add(column.name());
                }
                names.remove(request.key());
            }
        }
        if (names.isEmpty()) {
            problems.add(request.location() + " has no column with values beside the key " + request.key());
        }
        for (String name : names) {
            Optional<Field> field = all.field(name);
            if (field.isEmpty()) {
                problems.add("the dataset has no field " + name + "; it has " + TargetDataset.names(info)
                        + "; add the field with --add " + ShellText.word(name) + known(names, all));
            } else if (field.get().payload()) {
                problems.add("the field " + name + " is payload, which cannot be updated; replace the samples with"
                        + " `stoker ingest SOURCE DATASET --append --on-duplicate replace`" + known(names, all));
            }
        }
        if (!problems.isEmpty()) {
            throw new InvalidIngestException(problems);
        }
        return all.fields().stream()
                .filter(field -> names.contains(field.name()))
                .toList();
    }

    /** Returns the options that take only the columns that can be updated, if there are such columns. */
    private static String known(Set<String> names, DatasetInfo all) {
        List<String> known = names.stream()
                .filter(name ->
                        all.field(name).filter(field -> !field.payload()).isPresent())
                .map(name -> "--column " + ShellText.word(name))
                .toList();
        return known.isEmpty()
                ? ""
                : ", or take only the columns of the dataset's small fields with " + String.join(" ", known);
    }

    /** Without its key, the columns of the table would look like fields that the dataset lacks. */
    private void requireKey() throws IOException {
        List<String> problems = new ArrayList<>();
        // A format that is told the type of a column has it, also if the file does not.
        try (SourceReader bytes = SourceReader.open(files.get(0));
                RowFile rows = format.open(bytes, RowFiles.tableLimits())) {
            // With its type, it can be read although the first rows do not tell one: there may be none.
            boolean isThere = rows.schema().refused().stream()
                    .anyMatch(column -> column.name().equals(request.key()));
            if (!isThere) {
                place(files.get(0), rows.schema(), request.key(), problems);
            }
        }
        if (!problems.isEmpty()) {
            throw new InvalidIngestException(problems);
        }
    }

    private static FieldType stored(FieldType type) {
        return type == ScalarType.CATEGORICAL ? ScalarType.UTF8 : type;
    }

    private RowFile open(SourceReader bytes, List<Field> fields) throws IOException {
        Map<String, FieldType> types = new LinkedHashMap<>();
        Map<String, FieldType> own = new LinkedHashMap<>();
        fields.forEach(field -> types.put(field.name(), stored(field.type())));
        fields.forEach(field -> own.put(field.name(), field.type()));
        return ConvertedFile.of(open(bytes, types), own);
    }

    /** @param wanted types of columns, for formats that detect types */
    private RowFile open(SourceReader bytes, Map<String, FieldType> wanted) throws IOException {
        ReadLimits limits = RowFiles.tableLimits();
        if (!(format instanceof HintedFormat hinted)) {
            return format.open(bytes, limits);
        }
        Map<String, FieldType> types = new LinkedHashMap<>();
        // A key of digits is text: an integer would lose zeros at its beginning.
        types.put(request.key(), ScalarType.UTF8);
        types.putAll(wanted);
        return hinted.open(bytes, limits, ColumnHints.types(types));
    }

    /** Returns the columns of the key and of each field in a file. */
    private int[] bind(SourceFile file, RowSchema schema, List<Field> fields) {
        List<String> problems = new ArrayList<>();
        int[] selected = new int[1 + fields.size()];
        selected[0] = place(file, schema, request.key(), problems);
        for (int f = 0; f < fields.size(); f++) {
            Field field = fields.get(f);
            selected[f + 1] = place(file, schema, field.name(), problems);
            if (selected[f + 1] >= 0) {
                RowColumn column = schema.columns().get(selected[f + 1]);
                if (Conversion.of(column.type(), field.type()) == Conversion.IMPOSSIBLE) {
                    problems.add("the column " + field.name() + " of " + file.location() + " has the type "
                            + column.type().canonical() + " (" + column.sourceType()
                            + "), which the dataset's field of type "
                            + field.type().canonical() + " does not hold");
                }
            }
        }
        if (!problems.isEmpty()) {
            throw new InvalidIngestException(problems);
        }
        return selected;
    }

    private int place(SourceFile file, RowSchema schema, String name, List<String> problems) {
        List<RowColumn> columns = schema.columns();
        int[] places = IntStream.range(0, columns.size())
                .filter(c -> columns.get(c).name().equals(name))
                .toArray();
        if (places.length == 1) {
            return places[0];
        }
        if (places.length > 1) {
            problems.add(file.location() + " has two columns " + name);
            return -1;
        }
        Optional<RowSchema.RefusedColumn> refused = schema.refused().stream()
                .filter(column -> column.name().equals(name))
                .findFirst();
        if (refused.isPresent()) {
            problems.add("the column " + name + " of " + file.location() + " ("
                    + refused.get().sourceType() + ") cannot be read: "
                    + refused.get().reason());
            return -1;
        }
        String has = String.join(
                ", ", columns.stream().map(RowColumn::name).limit(SHOWN).toList());
        problems.add(file.location() + " has no column " + name + "; it has " + has
                + (name.equals(request.key()) ? "; name the column of the keys with --key COLUMN" : ""));
        return -1;
    }

    private void add(SourceFile file, RowReader reader, UpdateRows rows, List<Field> fields) throws IOException {
        String column = request.key();
        try {
            reader.get(0, keyText);
            if (keyText.text().isEmpty()) {
                throw new BadValueException("an empty key");
            }
            rows.begin(keyText.text());
            for (int f = 0; f < fields.size(); f++) {
                column = fields.get(f).name();
                reader.get(f + 1, rows.at(f));
            }
            rows.end();
        } catch (BadValueException e) {
            String advice =
                    column.equals(request.key()) ? "; if another column has the keys, name it with --key COLUMN" : "";
            throw unfit(file, reader.position(), column, e.reason() + (advice.isEmpty() ? added(column) : advice));
        }
    }

    /** Returns the next step for a value of a field that is added with the type of the first rows. */
    private String added(String field) {
        boolean isGuessed = request.added()
                .getOrDefault(field, Optional.of(ScalarType.UTF8))
                .isEmpty();
        return isGuessed ? "; give the type with " + ShellText.pair("--add", field, "TYPE") : "";
    }

    /** Without a cause, whose message the command would print instead. */
    private static IOException unfit(SourceFile file, long position, String column, String why) {
        return new UnreadableException(
                file.location() + "#" + position + ", column " + column + ": " + why + "; nothing was committed");
    }
}
