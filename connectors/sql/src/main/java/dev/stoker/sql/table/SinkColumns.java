package dev.stoker.sql.table;

import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.sql.types.FieldTypes;
import dev.stoker.sql.types.Metadata;
import dev.stoker.sql.types.RowIdentity;
import dev.stoker.sql.types.RowSamples;
import dev.stoker.sql.types.SqlTypes;
import dev.stoker.storage.Stores;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.LogicalType;

/**
 * The fields that the columns of a written table become.
 *
 * @param info description of the dataset
 * @param stored the columns that become fields
 * @param identity reads the key and the split
 */
record SinkColumns(DatasetInfo info, List<RowSamples.Stored> stored, RowIdentity identity) {

    /**
     * Compares the columns with an existing dataset.
     *
     * @throws ValidationException names all problems
     */
    static SinkColumns of(DatasetInfo info, SinkTable table) {
        List<String> problems = new ArrayList<>();
        List<RowSamples.Stored> stored = new ArrayList<>();
        for (int c = 0; c < table.names().size(); c++) {
            String name = table.names().get(c);
            Optional<Field> field = info.field(name);
            if (table.isStored(name) && field.isPresent()) {
                LogicalType declared = table.types().get(c).getLogicalType();
                LogicalType expected = SqlTypes.of(field.get()).getLogicalType();
                if (!TableChecks.isSame(declared, expected)) {
                    problems.add("column '" + name + "' is " + expected.copy(true) + ", not " + declared.copy(true));
                }
                stored.add(RowSamples.Stored.of(field.get(), info.fields().indexOf(field.get()), c));
            } else if (table.isStored(name)) {
                problems.add("the dataset has no column '" + name + "'");
            } else if (field.isPresent()) {
                problems.add("column '" + name + "' is a field of the dataset, not its split; partition the table by"
                        + " another column");
            }
        }
        for (Field field : info.fields()) {
            if (!field.nullable() && !table.names().contains(field.name())) {
                problems.add("column '" + field.name() + "' is missing; it cannot be null");
            }
        }
        RowIdentity identity = table.identity(problems);
        table.require(problems);
        return new SinkColumns(info, stored, identity);
    }

    /**
     * Describes the dataset that the first row creates.
     *
     * @throws ValidationException names all problems
     */
    static SinkColumns create(SinkTable table, ReadableConfig options, String path) {
        List<String> problems = new ArrayList<>();
        List<String> categorical =
                options.getOptional(StokerOptions.SINK_CATEGORICAL).orElse(List.of());
        Optional<List<String>> payload = options.getOptional(StokerOptions.SINK_PAYLOAD);
        for (String name : categorical) {
            requireColumn(name, table, StokerOptions.SINK_CATEGORICAL.key(), problems);
        }
        for (String name : payload.orElse(List.of())) {
            requireColumn(name, table, StokerOptions.SINK_PAYLOAD.key(), problems);
        }
        List<Field> small = new ArrayList<>();
        List<Field> large = new ArrayList<>();
        for (int c = 0; c < table.names().size(); c++) {
            String name = table.names().get(c);
            if (!table.isStored(name)) {
                continue;
            }
            LogicalType declared = table.types().get(c).getLogicalType();
            try {
                FieldType type = FieldTypes.of(declared);
                boolean isPayload = payload.isPresent() ? payload.get().contains(name) : type == ScalarType.BINARY;
                (isPayload ? large : small)
                        .add(new Field(
                                name,
                                categorical.contains(name) ? asCategorical(type) : type,
                                declared.isNullable(),
                                isPayload));
            } catch (IllegalArgumentException e) {
                problems.add("column '" + name + "': " + e.getMessage());
            }
        }
        RowIdentity identity = table.identity(problems);
        table.require(problems);
        List<Field> fields = Stream.concat(small.stream(), large.stream()).toList();
        DatasetInfo info = new DatasetInfo(
                UUID.randomUUID(),
                Stores.name(path).orElse(table.name()),
                Instant.now().truncatedTo(ChronoUnit.MILLIS),
                fields,
                Map.of("chunk_size", options.get(StokerOptions.SINK_CHUNK_SIZE).getBytes()));
        List<RowSamples.Stored> stored = new ArrayList<>();
        for (int f = 0; f < fields.size(); f++) {
            stored.add(RowSamples.Stored.of(
                    fields.get(f), f, table.names().indexOf(fields.get(f).name())));
        }
        return new SinkColumns(info, stored, identity);
    }

    /** Returns this with the key or the split in a metadata column. */
    SinkColumns withMetadata(String key, int position) {
        RowData.FieldGetter column = RowData.createFieldGetter(SqlTypes.key().getLogicalType(), position);
        boolean isKey = key.equals(Metadata.KEY.key());
        if (isKey ? identity.hasKey() : identity.hasSplit()) {
            throw new ValidationException("Cannot write to the dataset " + info.name() + ": the " + key
                    + " is declared twice, by a metadata column and by "
                    + (isKey ? "another column or the primary key" : "the column of the partition"));
        }
        return new SinkColumns(info, stored, isKey ? identity.withKey(column) : identity.withSplit(column));
    }

    private static FieldType asCategorical(FieldType type) {
        if (type != ScalarType.UTF8) {
            throw new IllegalArgumentException("only STRING can be categorical, not " + type);
        }
        return ScalarType.CATEGORICAL;
    }

    private static void requireColumn(String name, SinkTable table, String option, List<String> problems) {
        if (!table.names().contains(name) || !table.isStored(name)) {
            problems.add("option '" + option + "' names '" + name + "', which is no column of a field");
        }
    }
}
