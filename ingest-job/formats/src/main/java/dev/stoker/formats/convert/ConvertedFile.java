package dev.stoker.formats.convert;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.BlockReader;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowPart;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.RowSchema.RefusedColumn;
import dev.stoker.formats.ValueSink;
import dev.stoker.schemas.arrow.types.FieldType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A file of which some columns are read as other types. For one thread at a time. */
public final class ConvertedFile implements RowFile {
    private final RowFile file;
    private final RowSchema schema;

    /** The types of the file, by the index of the column. */
    private final Map<Integer, FieldType> converted;

    /** The index of each column in the file. */
    private final List<Integer> indexes;

    private ConvertedFile(RowFile file, RowSchema schema, Map<Integer, FieldType> converted, List<Integer> indexes) {
        this.file = file;
        this.schema = schema;
        this.converted = converted;
        this.indexes = indexes;
    }

    /**
     * Converts the columns of a file.
     *
     * @param types the wanted types by name. A column keeps its own type if no conversion exists, or if
     *     the field converts. Lists whose items have the type null are columns if a type of lists is wanted
     */
    public static RowFile of(RowFile file, Map<String, FieldType> types) {
        List<RowColumn> columns = new ArrayList<>();
        Map<Integer, FieldType> converted = new HashMap<>();
        for (RowColumn column : file.schema().columns()) {
            FieldType wanted = types.getOrDefault(column.name(), column.type());
            Conversion conversion = Conversion.of(column.type(), wanted);
            if (!conversion.isRead()) {
                columns.add(column);
            } else {
                converted.put(columns.size(), column.type());
                columns.add(new RowColumn(
                        column.name(), wanted, column.nullable(), column.sourceType(), column.role(), List.of()));
            }
        }
        List<Integer> indexes = new ArrayList<>();
        columns.forEach(column -> indexes.add(indexes.size()));
        Set<String> named = new HashSet<>();
        List<RowColumn> others = new ArrayList<>();
        int index = columns.size();
        for (RowColumn list : file.schema().nullLists()) {
            FieldType wanted = types.get(list.name());
            boolean isTwice = columns.stream().anyMatch(column -> column.name().equals(list.name()));
            if (wanted == null || isTwice || !Conversion.isList(wanted)) {
                others.add(list);
            } else {
                named.add(list.name());
                converted.put(columns.size(), list.type());
                indexes.add(index);
                columns.add(new RowColumn(list.name(), wanted, list.nullable(), list.sourceType(), list.role()));
            }
            index++;
        }
        List<RefusedColumn> refused = file.schema().refused().stream()
                .filter(column -> !named.contains(column.name()))
                .toList();
        return converted.isEmpty()
                ? file
                : new ConvertedFile(file, new RowSchema(columns, refused, others), converted, indexes);
    }

    private int[] inFile(int[] columns) {
        return Arrays.stream(columns).map(indexes::get).toArray();
    }

    @Override
    public RowSchema schema() {
        return schema;
    }

    @Override
    public List<RowPart> parts() throws IOException {
        return file.parts();
    }

    @Override
    public RowReader read(RowPart part, int[] columns) throws IOException {
        ConvertingSink[] sinks = new ConvertingSink[columns.length];
        for (int i = 0; i < columns.length; i++) {
            FieldType own = converted.get(columns[i]);
            sinks[i] = own == null
                    ? null
                    : new ConvertingSink(own, schema.columns().get(columns[i]).type());
        }
        return new Reader(file.read(part, inFile(columns)), sinks);
    }

    @Override
    public Optional<BlockReader> readBlocks(RowPart part, int[] columns) throws IOException {
        for (int column : columns) {
            if (converted.containsKey(column)) {
                return Optional.empty();
            }
        }
        return file.readBlocks(part, columns);
    }

    @Override
    public void close() throws IOException {
        file.close();
    }

    /**
     * Not thread-safe.
     *
     * @param sinks by column; null for those that are not converted
     */
    private record Reader(RowReader rows, ConvertingSink[] sinks) implements RowReader {
        @Override
        public boolean next() throws IOException {
            return rows.next();
        }

        @Override
        public long position() {
            return rows.position();
        }

        @Override
        public void get(int column, ValueSink sink) throws IOException, BadValueException {
            ConvertingSink converting = sinks[column];
            rows.get(column, converting == null ? sink : converting.to(sink));
        }

        @Override
        public boolean skip() {
            return rows.skip();
        }

        @Override
        public void close() throws IOException {
            rows.close();
        }
    }
}
