package dev.stoker.sql.table;

import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.sql.types.SqlTypes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeFamily;

/** Compares the columns of a table's declaration with the dataset. Stateless. */
final class TableChecks {

    private TableChecks() {}

    /**
     * Checks that each column exists and has the type of its field.
     *
     * @param partitions columns of the split
     *
     * @throws ValidationException names all problems
     */
    static void requireReadable(String table, DatasetInfo info, DataType columns, List<String> partitions) {
        List<String> problems = new ArrayList<>();
        List<String> names = DataType.getFieldNames(columns);
        List<DataType> types = DataType.getFieldDataTypes(columns);
        for (int c = 0; c < names.size(); c++) {
            LogicalType type = types.get(c).getLogicalType();
            if (!partitions.contains(names.get(c))) {
                problem(info, names.get(c), type).ifPresent(problems::add);
            } else if (info.field(names.get(c)).isPresent()) {
                problems.add("partition column '" + names.get(c) + "' is a field of the dataset, not its split");
            } else if (!type.is(LogicalTypeFamily.CHARACTER_STRING)) {
                problems.add("partition column '" + names.get(c) + "' is " + type.copy(true) + "; a split is a STRING");
            }
        }
        if (!problems.isEmpty()) {
            throw new ValidationException(
                    "Table " + table + " does not fit the dataset: " + String.join("; ", problems));
        }
    }

    private static Optional<String> problem(DatasetInfo info, String name, LogicalType declared) {
        Optional<DataType> expected = name.equals(Field.KEY)
                ? Optional.of(SqlTypes.key())
                : info.field(name).map(SqlTypes::of);
        if (expected.isEmpty()) {
            return Optional.of("it has no column '" + name + "'; it has " + Field.KEY + ", "
                    + String.join(", ", info.fields().stream().map(Field::name).toList()));
        }
        LogicalType type = expected.get().getLogicalType();
        if (!isSame(declared, type)) {
            return Optional.of("column '" + name + "' is " + type.copy(true) + ", not " + declared.copy(true));
        }
        if (type.isNullable() && !declared.isNullable()) {
            return Optional.of("column '" + name + "' can be null; declare it without NOT NULL");
        }
        if (type instanceof ArrayType own
                && own.getElementType().isNullable()
                && declared instanceof ArrayType given
                && !given.getElementType().isNullable()) {
            return Optional.of("the items of column '" + name + "' can be null; declare them without NOT NULL");
        }
        return Optional.empty();
    }

    /** Returns whether two types are the same, apart from nulls. */
    static boolean isSame(LogicalType one, LogicalType other) {
        return withoutNullability(one).equals(withoutNullability(other));
    }

    private static LogicalType withoutNullability(LogicalType type) {
        return type instanceof ArrayType array
                ? new ArrayType(true, withoutNullability(array.getElementType()))
                : type.copy(true);
    }
}
