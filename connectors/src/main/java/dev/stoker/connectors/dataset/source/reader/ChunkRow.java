package dev.stoker.connectors.dataset.source.reader;

import dev.stoker.connectors.dataset.Sample;
import dev.stoker.connectors.dataset.source.split.SourceChunk;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** A sample of a loaded chunk. Moves from row to row. For one thread at a time. */
final class ChunkRow implements Sample {

    private final long version;
    private final SourceChunk chunk;
    private final LoadedColumn[] columns;
    private int row;

    ChunkRow(long version, SourceChunk chunk, LoadedColumn[] columns) {
        this.version = version;
        this.chunk = chunk;
        this.columns = columns;
    }

    ChunkRow at(int newRow) {
        row = newRow;
        return this;
    }

    @Override
    public long version() {
        return version;
    }

    @Override
    public long chunk() {
        return chunk.ordinal();
    }

    @Override
    public int row() {
        return row;
    }

    @Override
    public String split() {
        return chunk.summary().split();
    }

    @Override
    public FieldType type(int column) {
        return columns[column].type();
    }

    @Override
    public boolean isNull(int column) {
        return columns[column].values().isNull(row);
    }

    @Override
    public long longAt(int column) {
        return columns[column].values().longAt(row);
    }

    @Override
    public double doubleAt(int column) {
        return columns[column].values().doubleAt(row);
    }

    @Override
    public BigDecimal decimalAt(int column) {
        return columns[column].values().decimalAt(row);
    }

    @Override
    public String stringAt(int column) {
        LoadedColumn loaded = columns[column];
        if (loaded.type() == ScalarType.CATEGORICAL) {
            return loaded.classes().get(loaded.values().intAt(row));
        }
        return StandardCharsets.UTF_8.decode(bytesAt(column)).toString();
    }

    @Override
    public ByteBuffer bytesAt(int column) {
        LoadedColumn loaded = columns[column];
        return loaded.payload() == null
                ? loaded.values().bytesAt(row)
                : loaded.payload()[row].duplicate().order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public int itemCount(int column) {
        return columns[column].values().itemCount(row);
    }

    @Override
    public boolean isNullItem(int column, int item) {
        return columns[column].values().isNullItem(row, item);
    }

    @Override
    public ByteBuffer itemAt(int column, int item) {
        return columns[column].values().itemAt(row, item);
    }
}
