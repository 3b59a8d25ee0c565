package dev.stoker.sql.types;

import dev.stoker.connectors.dataset.SampleSerializer;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.ChunkBuilder;
import java.io.IOException;
import java.io.Serializable;
import java.util.List;
import org.apache.flink.table.data.RowData;
import org.jspecify.annotations.Nullable;

/** Makes samples of rows. For one thread. */
public final class RowSamples implements SampleSerializer<RowData> {
    private static final long serialVersionUID = 1;

    private final Stored[] columns;
    private final RowIdentity identity;
    private transient SqlValueWriter @Nullable [] writers;

    /**
     * A column of the row that becomes a field.
     *
     * @param name of the field
     * @param type canonical text of its type
     * @param field its number in the dataset
     * @param position of the column in the row
     */
    public record Stored(String name, String type, int field, int position) implements Serializable {
        private static final long serialVersionUID = 1;

        public static Stored of(Field field, int number, int position) {
            return new Stored(field.name(), field.type().canonical(), number, position);
        }
    }

    /**
     * @param columns the columns that become fields
     * @param identity reads the key and the split
     */
    public RowSamples(List<Stored> columns, RowIdentity identity) {
        this.columns = columns.toArray(Stored[]::new);
        this.identity = identity;
    }

    @Override
    public void serialize(RowData row, ChunkBuilder sample) throws IOException {
        SqlValueWriter[] values = writers;
        if (values == null) {
            values = new SqlValueWriter[columns.length];
            for (int c = 0; c < columns.length; c++) {
                values[c] = SqlValueWriter.of(FieldType.parse(columns[c].type()));
            }
            writers = values;
        }
        for (int c = 0; c < columns.length; c++) {
            Stored column = columns[c];
            if (row.isNullAt(column.position())) {
                continue;
            }
            try {
                values[c].write(row, column.position(), sample, column.field());
            } catch (IllegalArgumentException | ArithmeticException e) {
                throw new IOException("column '" + column.name() + "': " + e.getMessage(), e);
            }
        }
    }

    @Override
    public long size(RowData row) {
        long size = 8L * columns.length;
        for (Stored column : columns) {
            int position = column.position();
            if (row.isNullAt(position)) {
                continue;
            }
            if (column.type().equals(ScalarType.BINARY.canonical())) {
                size += row.getBinary(position).length;
            } else if (column.type().equals(ScalarType.UTF8.canonical())) {
                size += row.getString(position).toBytes().length;
            } else if (column.type().endsWith("]") && !column.type().startsWith("time")) {
                size += 8L * row.getArray(position).size();
            }
        }
        return size;
    }

    @Override
    public String key(RowData row) throws IOException {
        return identity.keyOf(row);
    }

    @Override
    public String split(RowData row) {
        return identity.splitOf(row);
    }
}
