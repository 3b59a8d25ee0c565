package dev.stoker.formats.parquet.write;

import dev.stoker.formats.arrow.EmbeddedSchema;
import dev.stoker.formats.block.BlockCompressor;
import dev.stoker.formats.huggingface.Feature;
import dev.stoker.formats.huggingface.FeaturesJson;
import dev.stoker.formats.parquet.column.ExportedColumns;
import dev.stoker.formats.write.OutputColumn;
import dev.stoker.formats.write.OutputTable;
import dev.stoker.schemas.arrow.ArrowStream;
import dev.stoker.schemas.arrow.types.ArrowField;
import dev.stoker.schemas.arrow.types.ArrowSchema;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TensorType;
import dev.stoker.schemas.arrow.types.TimeType;
import dev.stoker.schemas.arrow.types.TimestampType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.format.ColumnChunk;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.ColumnOrder;
import org.apache.parquet.format.CompressionCodec;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.KeyValue;
import org.apache.parquet.format.RowGroup;
import org.apache.parquet.format.TypeDefinedOrder;
import org.apache.parquet.format.Util;
import org.apache.parquet.format.converter.ParquetMetadataConverter;
import org.apache.parquet.internal.column.columnindex.BinaryTruncator;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;

/** Collects the footer of a file that is being written. For one thread. */
final class ParquetFooter {
    /** Least and greatest values that cannot be shortened to this are not stored. */
    private static final int MAX_STATISTIC = 1024;

    private static final String CREATED_BY = "stoker version "
            + Optional.ofNullable(ParquetFooter.class.getPackage().getImplementationVersion())
                    .orElse("unknown");

    private final MessageType schema;
    private final OutputTable table;
    private final ParquetLayout layout;
    private final List<RowGroup> groups = new ArrayList<>();
    private final List<Index> indexes = new ArrayList<>();
    private long rows;

    ParquetFooter(MessageType schema, OutputTable table, ParquetLayout layout) {
        this.schema = schema;
        this.table = table;
        this.layout = layout;
    }

    /**
     * The index of a column chunk.
     *
     * @param firstPage where its first data page is
     */
    private record Index(ColumnChunk chunk, PageIndex pages, long firstPage) {}

    /** Binary payload, such as images and audio, is usually compressed already; text and numbers are not. */
    static BlockCompressor codec(OutputColumn column, String compression) {
        boolean isBytes = column.type() == ScalarType.BINARY || column.type().equals(new ListType(ScalarType.BINARY));
        return column.payload() && isBytes
                ? BlockCompressor.NONE
                : BlockCompressor.valueOf(compression.toUpperCase(Locale.ROOT));
    }

    /** Adds a row group that begins at a position of the file. */
    void addGroup(List<ColumnPages> chunks, long groupRows, long position) {
        List<ColumnChunk> columns = new ArrayList<>();
        long at = position;
        long plain = 0;
        for (ColumnPages chunk : chunks) {
            columns.add(chunk(chunk, at));
            at += chunk.bytes();
            plain += chunk.uncompressedBytes();
        }
        RowGroup group = new RowGroup(columns, plain, groupRows);
        group.setFile_offset(position);
        group.setTotal_compressed_size(at - position);
        group.setOrdinal((short) groups.size());
        groups.add(group);
        rows += groupRows;
    }

    private ColumnChunk chunk(ColumnPages pages, long at) {
        int column = schema.getFieldIndex(pages.descriptor().getPath()[0]);
        List<org.apache.parquet.format.Encoding> encodings = new ArrayList<>();
        pages.encodings().forEach(e -> encodings.add(org.apache.parquet.format.Encoding.valueOf(e.name())));
        PrimitiveTypeName primitive = pages.descriptor().getPrimitiveType().getPrimitiveTypeName();
        ColumnMetaData metadata = new ColumnMetaData(
                SchemaElements.type(primitive),
                encodings,
                List.of(pages.descriptor().getPath()),
                thrift(codec(table.columns().get(column), table.compression())),
                pages.values(),
                pages.uncompressedBytes(),
                pages.bytes(),
                at + pages.dictionaryBytes());
        if (pages.dictionaryBytes() > 0) {
            metadata.setDictionary_page_offset(at);
        }
        statistics(metadata, pages.statistics());
        metadata.setEncoding_stats(pages.encodingStatistics());
        metadata.setSize_statistics(ParquetMetadataConverter.toParquetSizeStatistics(pages.sizes()));
        ColumnChunk chunk = new ColumnChunk(0);
        chunk.setMeta_data(metadata);
        indexes.add(new Index(chunk, pages.index(), at + pages.dictionaryBytes()));
        return chunk;
    }

    private static CompressionCodec thrift(BlockCompressor codec) {
        return switch (codec) {
            case NONE -> CompressionCodec.UNCOMPRESSED;
            case SNAPPY -> CompressionCodec.SNAPPY;
            case GZIP -> CompressionCodec.GZIP;
            case ZSTD -> CompressionCodec.ZSTD;
        };
    }

    private static void statistics(ColumnMetaData metadata, Statistics<?> found) {
        if (found.isEmpty()) {
            return;
        }
        org.apache.parquet.format.Statistics stored = new org.apache.parquet.format.Statistics();
        if (found.isNumNullsSet()) {
            stored.setNull_count(found.getNumNulls());
        }
        if (found.hasNonNullValue() && isComparable(found)) {
            bounds(stored, found);
        }
        metadata.setStatistics(stored);
    }

    /** Stores the least and the greatest value. Of long text, a shorter one below and above are enough to skip. */
    private static void bounds(org.apache.parquet.format.Statistics stored, Statistics<?> found) {
        byte[] min = found.getMinBytes();
        byte[] max = found.getMaxBytes();
        if (found.type().getPrimitiveTypeName() != PrimitiveTypeName.BINARY
                || Math.max(min.length, max.length) <= PageIndex.MAX_VALUE) {
            stored.setMin_value(min);
            stored.setMax_value(max);
            return;
        }
        BinaryTruncator truncator = BinaryTruncator.getTruncator(found.type());
        byte[] below = truncator
                .truncateMin(Binary.fromConstantByteArray(min), PageIndex.MAX_VALUE)
                .getBytes();
        byte[] above = truncator
                .truncateMax(Binary.fromConstantByteArray(max), PageIndex.MAX_VALUE)
                .getBytes();
        if (Math.max(below.length, above.length) <= MAX_STATISTIC) {
            stored.setMin_value(below);
            stored.setMax_value(above);
            stored.setIs_min_value_exact(Arrays.equals(below, min));
            stored.setIs_max_value_exact(Arrays.equals(above, max));
        }
    }

    private static boolean isComparable(Statistics<?> found) {
        PrimitiveTypeName type = found.type().getPrimitiveTypeName();
        if (type == PrimitiveTypeName.FLOAT || type == PrimitiveTypeName.DOUBLE) {
            double min = ((Number) found.genericGetMin()).doubleValue();
            double max = ((Number) found.genericGetMax()).doubleValue();
            // Zero has two signs, and NaN no place in the order.
            return !Double.isNaN(min) && !Double.isNaN(max) && min != 0 && max != 0;
        }
        boolean isFloat16 =
                type == PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY && found.type().getTypeLength() == 2;
        return !isFloat16;
    }

    /**
     * Returns the page indexes, the footer and its length.
     *
     * @param position where they will be in the file
     */
    byte[] encode(long position) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (Index index : indexes) {
            out.writeBytes(index.pages().encode(index.chunk(), position + out.size(), index.firstPage()));
        }
        int start = out.size();
        FileMetaData metadata = new FileMetaData(1, SchemaElements.of(schema), rows, groups);
        metadata.setCreated_by(CREATED_BY);
        List<ColumnOrder> orders = new ArrayList<>();
        schema.getColumns().forEach(column -> orders.add(ColumnOrder.TYPE_ORDER(new TypeDefinedOrder())));
        metadata.setColumn_orders(orders);
        metadata.setKey_value_metadata(keyValues());
        Util.writeFileMetaData(metadata, out);
        int length = out.size() - start;
        out.writeBytes(ByteBuffer.allocate(4)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(length)
                .array());
        return out.toByteArray();
    }

    private List<KeyValue> keyValues() {
        if (layout.isHuggingFace()) {
            return List.of(keyValue(Feature.METADATA_KEY, FeaturesJson.encode(table.columns(), layout.images())));
        }
        String arrow = Base64.getEncoder().encodeToString(arrowSchema());
        return List.of(
                keyValue(EmbeddedSchema.METADATA_KEY, arrow),
                keyValue(ExportedColumns.METADATA_KEY, ExportedColumns.encode(table)));
    }

    private static KeyValue keyValue(String key, String value) {
        KeyValue pair = new KeyValue(key);
        pair.setValue(value);
        return pair;
    }

    /** The types that Arrow's readers restore: time zones, tensors, dictionaries. */
    private byte[] arrowSchema() {
        List<ArrowField> fields = new ArrayList<>();
        for (OutputColumn column : table.columns()) {
            FieldType type = arrowType(column.type());
            fields.add(
                    column.nullable() ? ArrowField.nullable(column.name(), type) : ArrowField.of(column.name(), type));
        }
        return ArrowStream.openingWithDictionaries(ArrowSchema.of(fields));
    }

    private static FieldType arrowType(FieldType type) {
        if (type == ScalarType.BFLOAT16) {
            return ScalarType.FLOAT32;
        }
        if (type instanceof ListType list) {
            return new ListType(arrowType(list.item()), list.nullItems());
        }
        if (type instanceof TensorType tensor) {
            ScalarType element = tensor.element() == ScalarType.BFLOAT16 ? ScalarType.FLOAT32 : tensor.element();
            return new TensorType(element, tensor.shape());
        }
        if (type instanceof TimestampType timestamp) {
            return new TimestampType(OutputType.stored(timestamp.unit()), timestamp.zone());
        }
        return type instanceof TimeType time ? new TimeType(OutputType.stored(time.unit())) : type;
    }
}
