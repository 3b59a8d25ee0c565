package dev.stoker.formats.parquet.read;

import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowColumn.Role;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.RowSchema.RefusedColumn;
import dev.stoker.formats.arrow.EmbeddedSchema;
import dev.stoker.formats.parquet.column.ExportedColumns;
import dev.stoker.formats.parquet.column.ExportedColumns.Exported;
import dev.stoker.formats.parquet.column.ParquetColumn;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TensorType;
import dev.stoker.schemas.arrow.types.TimestampType;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The types that Parquet has no words for. The metadata of the file has them: time zones, tensors, dictionaries and
 * durations in an Arrow schema, and the fields of a dataset that Stoker exported.
 */
final class RestoredTypes {
    private static final int MAX_DEPTH = 32;

    private final ExportedColumns exported;
    private final Map<String, RowColumn> arrow = new HashMap<>();
    private final Map<String, RefusedColumn> refused = new HashMap<>();

    /**
     * @param exported the metadata of an export, or null
     * @param arrowSchema the metadata of an Arrow writer, or null
     * @throws IOException if one of them is damaged
     */
    RestoredTypes(@Nullable String exported, @Nullable String arrowSchema) throws IOException {
        this.exported = ExportedColumns.parse(exported);
        RowSchema columns = EmbeddedSchema.columns(arrowSchema, MAX_DEPTH);
        columns.columns().forEach(column -> arrow.putIfAbsent(column.name(), column));
        columns.refused().stream()
                .filter(column -> column.sourceType().startsWith("duration"))
                .forEach(column -> refused.putIfAbsent(column.name(), column));
    }

    /** Returns why a column cannot be stored, although its numbers could; null if it can. */
    @Nullable
    RefusedColumn refusal(String column) {
        return refused.get(column);
    }

    /** Returns the column with the type and the role that the metadata gives it. */
    ParquetColumn restored(ParquetColumn column) {
        RowColumn own = column.column();
        if (!exported.key().isEmpty() && own.name().equals(exported.key())) {
            return own.type() == ScalarType.UTF8
                    ? with(column, new RowColumn(own.name(), own.type(), own.nullable(), own.sourceType(), Role.KEY))
                    : column;
        }
        Exported field = exported.fields().get(own.name());
        RowColumn known = arrow.get(own.name());
        if (field != null && (own.type().equals(field.type()) || isSame(own.type(), field.type()))) {
            Role role = field.payload() ? Role.PAYLOAD : Role.SMALL;
            List<String> classes = field.type() == ScalarType.CATEGORICAL ? field.classes() : List.of();
            return with(
                    column, new RowColumn(own.name(), field.type(), own.nullable(), own.sourceType(), role, classes));
        }
        return known != null && isSame(own.type(), known.type())
                ? with(
                        column,
                        new RowColumn(
                                own.name(), known.type(), own.nullable(), own.sourceType(), own.role(), own.classes()))
                : column;
    }

    private static ParquetColumn with(ParquetColumn column, RowColumn described) {
        return new ParquetColumn(described, column.source(), column.scalar(), column.classes(), column.file());
    }

    /** Returns whether values of the type that Parquet names are given as values of the other type are. */
    private static boolean isSame(FieldType own, FieldType type) {
        if (own instanceof ListType list) {
            return type instanceof TensorType tensor
                    ? tensor.element() == list.numbers()
                    : type.hasNullItems()
                            && type instanceof ListType other
                            && other.withoutNulls().equals(own);
        }
        if (own instanceof TimestampType stored && type instanceof TimestampType zoned) {
            return stored.unit() == zoned.unit()
                    && stored.zone().isPresent() == zoned.zone().isPresent();
        }
        return (own == ScalarType.UTF8 && type == ScalarType.CATEGORICAL)
                || (own == ScalarType.FLOAT32 && type == ScalarType.BFLOAT16);
    }
}
