package dev.stoker.sql.table;

import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.sql.types.RowIdentity;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.catalog.ResolvedCatalogTable;
import org.apache.flink.table.catalog.UniqueConstraint;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DynamicTableFactory;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeFamily;

/**
 * The declaration of a table that is written. The column {@code key} and the column of the partition are no fields.
 *
 * @param name of the table
 * @param names of the physical columns
 * @param types of the physical columns
 * @param primaryKey the columns of the primary key; empty without one
 * @param partitions the columns by which the table is partitioned
 */
record SinkTable(
        String name, List<String> names, List<DataType> types, List<String> primaryKey, List<String> partitions) {

    static SinkTable of(DynamicTableFactory.Context context) {
        ResolvedCatalogTable table = context.getCatalogTable();
        DataType columns = context.getPhysicalRowDataType();
        return new SinkTable(
                context.getObjectIdentifier().asSummaryString(),
                DataType.getFieldNames(columns),
                DataType.getFieldDataTypes(columns),
                table.getResolvedSchema()
                        .getPrimaryKey()
                        .map(UniqueConstraint::getColumns)
                        .orElse(List.of()),
                table.getPartitionKeys());
    }

    /** Returns whether a column becomes a field. */
    boolean isStored(String column) {
        return !column.equals(Field.KEY) && !partitions.contains(column);
    }

    /** Returns how the key and the split of a row are read, and adds what is wrong with their columns. */
    RowIdentity identity(List<String> problems) {
        List<String> keyColumns = new ArrayList<>(primaryKey);
        if (keyColumns.isEmpty() && names.contains(Field.KEY)) {
            keyColumns.add(Field.KEY);
        }
        if (names.contains(Field.KEY) && !keyColumns.equals(List.of(Field.KEY))) {
            problems.add("the primary key is not column 'key', which is the key; declare PRIMARY KEY (`key`) NOT"
                    + " ENFORCED, or leave one of both out");
        }
        List<RowData.FieldGetter> key = new ArrayList<>();
        for (String column : keyColumns) {
            LogicalType type = type(column);
            if (!type.is(LogicalTypeFamily.CHARACTER_STRING) && !type.is(LogicalTypeFamily.INTEGER_NUMERIC)) {
                problems.add("column '" + column + "' of the key is " + type.copy(true)
                        + "; a key is made of STRING columns and integers");
            }
            key.add(RowData.createFieldGetter(type, names.indexOf(column)));
        }
        return new RowIdentity(key, split(problems).orElse(null));
    }

    private Optional<RowData.FieldGetter> split(List<String> problems) {
        if (partitions.isEmpty()) {
            return Optional.empty();
        }
        String column = partitions.get(0);
        if (partitions.size() > 1) {
            problems.add("the table is partitioned by " + String.join(", ", partitions)
                    + "; a dataset has one partition column, the split");
        }
        LogicalType type = type(column);
        if (!type.is(LogicalTypeFamily.CHARACTER_STRING)) {
            problems.add("partition column '" + column + "' is " + type.copy(true) + "; a split is a STRING");
        }
        return Optional.of(RowData.createFieldGetter(type, names.indexOf(column)));
    }

    private LogicalType type(String column) {
        return types.get(names.indexOf(column)).getLogicalType();
    }

    /** Throws if there are problems; the message names all of them. */
    void require(List<String> problems) {
        if (!problems.isEmpty()) {
            throw new ValidationException("Cannot write to table " + name + ": " + String.join("; ", problems));
        }
    }
}
