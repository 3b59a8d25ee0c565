package dev.stoker.formats.parquet.write;

import dev.stoker.formats.write.Cell;
import dev.stoker.formats.write.OutputTable;
import dev.stoker.formats.write.RowBatch;
import dev.stoker.formats.write.UnwritableValueException;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TensorType;
import dev.stoker.schemas.arrow.types.TimeResolution;
import dev.stoker.schemas.arrow.types.TimeType;
import dev.stoker.schemas.arrow.types.TimestampType;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.ColumnWriter;

/** Gives the values of one column to its encoder, with their levels. For one thread. */
final class ColumnOutput {
    private final OutputTable table;
    private final int column;
    private final ColumnDescriptor descriptor;
    private final FieldType type;
    /** Definition level of a row that is not null. */
    private final int present;

    private final ValueWriter values;
    /** Whether the column has the path of a struct, which is always null. */
    private final boolean isNoPath;
    /** Definition levels of an item of a list: 2 if it may be null. */
    private final int itemLevels;

    private ColumnOutput(
            OutputTable table, int column, ColumnDescriptor descriptor, boolean isNoPath, boolean areItemsOptional) {
        this.table = table;
        this.column = column;
        this.descriptor = descriptor;
        this.type = table.columns().get(column).type();
        this.present = table.columns().get(column).nullable() ? 1 : 0;
        this.isNoPath = isNoPath;
        this.itemLevels = areItemsOptional ? 2 : 1;
        this.values = ValueWriter.of(type, table.columns().get(column).classes());
    }

    static ColumnOutput of(OutputTable table, int column, ColumnDescriptor descriptor, ParquetLayout layout) {
        return new ColumnOutput(table, column, descriptor, false, layout.isHuggingFace());
    }

    /** Returns the paths of structs of bytes and path, of which a dataset has none. */
    static ColumnOutput ofNoPaths(OutputTable table, int column, ColumnDescriptor descriptor) {
        return new ColumnOutput(table, column, descriptor, true, false);
    }

    ColumnDescriptor descriptor() {
        return descriptor;
    }

    /** Writes the values of some rows. */
    void write(RowBatch rows, int from, int to, ColumnWriter out) throws IOException {
        ArrowColumn values = rows.columns().get(column);
        for (int row = from; row < to; row++) {
            if (values.isNull(row)) {
                out.writeNull(0, 0);
            } else if (isNoPath) {
                out.writeNull(0, present);
            } else {
                write(rows, values, row, out);
            }
        }
    }

    private void write(RowBatch rows, ArrowColumn source, int row, ColumnWriter out) throws IOException {
        if (type instanceof ListType list && list.nullItems()) {
            nullable(source, row, list.element().isNumber(), out);
        } else if (type instanceof ListType list && list.items() != null) {
            nested(source, row, list.isOfLists(), out);
        } else if (type instanceof ListType) {
            list(source.bytesAt(row), present, 0, out);
        } else if (type instanceof TensorType) {
            tensor(source.bytesAt(row), out);
        } else if (isInSeconds()) {
            seconds(rows, source, row, out);
        } else {
            values.row(source, row, 0, present, out);
        }
    }

    /** Writes the elements of a list; the level of an empty one is given. */
    private void list(ByteBuffer elements, int empty, int repetition, ColumnWriter out) {
        if (!elements.hasRemaining()) {
            out.writeNull(repetition, empty);
            return;
        }
        int width = values.width();
        int inner = empty == present ? 1 : 2;
        for (int at = 0; at < elements.limit(); at += width) {
            values.element(elements, at, at == 0 ? repetition : inner, empty + itemLevels, out);
        }
    }

    /** Writes the elements of a tensor, which are optional. */
    private void tensor(ByteBuffer elements, ColumnWriter out) {
        int width = values.width();
        for (int at = 0; at < elements.limit(); at += width) {
            values.element(elements, at, at == 0 ? 0 : 1, present + 2, out);
        }
    }

    private void nested(ArrowColumn source, int row, boolean isOfLists, ColumnWriter out) {
        int count = source.itemCount(row);
        if (count == 0) {
            out.writeNull(0, present);
        }
        for (int item = 0; item < count; item++) {
            ByteBuffer bytes = source.itemAt(row, item);
            int repetition = item == 0 ? 0 : 1;
            if (isOfLists) {
                list(bytes, present + itemLevels, repetition, out);
            } else {
                values.bytes(bytes, repetition, present + itemLevels, out);
            }
        }
    }

    private void nullable(ArrowColumn source, int row, boolean isNumber, ColumnWriter out) {
        int count = source.itemCount(row);
        if (count == 0) {
            out.writeNull(0, present);
        }
        for (int item = 0; item < count; item++) {
            int repetition = item == 0 ? 0 : 1;
            if (source.isNullItem(row, item)) {
                out.writeNull(repetition, present + 1);
            } else if (isNumber) {
                values.element(source.itemAt(row, item), 0, repetition, present + 2, out);
            } else {
                values.bytes(source.itemAt(row, item), repetition, present + 2, out);
            }
        }
    }

    private boolean isInSeconds() {
        return (type instanceof TimestampType timestamp && timestamp.unit() == TimeResolution.SECONDS)
                || (type instanceof TimeType time && time.unit() == TimeResolution.SECONDS);
    }

    /** Parquet has no seconds. */
    private void seconds(RowBatch rows, ArrowColumn source, int row, ColumnWriter out) throws UnwritableValueException {
        long millis;
        try {
            millis = Math.multiplyExact(source.longAt(row), 1000L);
        } catch (ArithmeticException e) {
            throw new Cell(table, rows, column, row)
                    .refused(
                            "its time does not fit into milliseconds, which are Parquet's longest unit",
                            "export to arrow");
        }
        if (type instanceof TimeType) {
            out.write((int) millis, 0, present);
        } else {
            out.write(millis, 0, present);
        }
    }

    /** Returns the type of the elements of a list or tensor. */
    static ScalarType element(FieldType type) {
        return type instanceof TensorType tensor ? tensor.element() : ((ListType) type).element();
    }
}
