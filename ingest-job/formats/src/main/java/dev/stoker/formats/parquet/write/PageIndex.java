package dev.stoker.formats.parquet.write;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import org.apache.parquet.column.statistics.SizeStatistics;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.format.ColumnChunk;
import org.apache.parquet.format.Util;
import org.apache.parquet.format.converter.ParquetMetadataConverter;
import org.apache.parquet.internal.column.columnindex.ColumnIndex;
import org.apache.parquet.internal.column.columnindex.ColumnIndexBuilder;
import org.apache.parquet.internal.column.columnindex.OffsetIndexBuilder;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.jspecify.annotations.Nullable;

/**
 * The index of the data pages of a column chunk: where they are, and their least and greatest values, with which
 * readers skip pages. For one thread.
 */
final class PageIndex {
    /** Longer values are shortened. */
    static final int MAX_VALUE = 64;

    private final PrimitiveType type;
    private final OffsetIndexBuilder offsets = OffsetIndexBuilder.getBuilder();
    private final ColumnIndexBuilder values;
    private boolean hasValues;

    PageIndex(PrimitiveType type) {
        this.type = type;
        this.values = ColumnIndexBuilder.getBuilder(type, MAX_VALUE);
        // NaN has no place in the order, and parquet-java looks for it in FLOAT and DOUBLE only.
        boolean isFloat16 =
                type.getPrimitiveTypeName() == PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY && type.getTypeLength() == 2;
        this.hasValues = !isFloat16;
    }

    /**
     * Adds a data page.
     *
     * @param bytes of the page with its header
     * @param rows that begin in the page
     * @param statistics null if the values are not indexed
     * @param sizes of the page
     */
    void add(int bytes, int rows, @Nullable Statistics<?> statistics, SizeStatistics sizes) {
        offsets.add(bytes, rows, sizes.getUnencodedByteArrayDataBytes());
        hasValues &= statistics != null && !statistics.isEmpty();
        if (hasValues && statistics != null) {
            values.add(statistics, sizes);
        }
    }

    /**
     * Returns the encoded index.
     *
     * @param chunk gets the places
     * @param position where the index will be in the file
     * @param firstPage where the first data page is
     */
    byte[] encode(ColumnChunk chunk, long position, long firstPage) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ColumnIndex built = hasValues ? values.build() : null;
        org.apache.parquet.format.ColumnIndex columnIndex =
                built == null ? null : ParquetMetadataConverter.toParquetColumnIndex(type, built);
        if (columnIndex != null) {
            Util.writeColumnIndex(columnIndex, out);
            chunk.setColumn_index_offset(position);
            chunk.setColumn_index_length(out.size());
        }
        int start = out.size();
        Util.writeOffsetIndex(ParquetMetadataConverter.toParquetOffsetIndex(offsets.build(firstPage)), out);
        chunk.setOffset_index_offset(position + start);
        chunk.setOffset_index_length(out.size() - start);
        return out.toByteArray();
    }
}
