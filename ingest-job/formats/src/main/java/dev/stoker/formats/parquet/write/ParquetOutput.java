package dev.stoker.formats.parquet.write;

import dev.stoker.formats.block.BlockCompressor;
import dev.stoker.formats.write.OutputColumn;
import dev.stoker.formats.write.OutputTable;
import dev.stoker.formats.write.RowBatch;
import dev.stoker.formats.write.RowOutput;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.ParquetProperties;
import org.apache.parquet.column.impl.ColumnWriteStoreV1;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Type;
import org.jspecify.annotations.Nullable;

/**
 * Writes one file. Pages of a row group are kept in memory, encoded and compressed, until the group is complete.
 *
 * <pre>
 * PAR1 | row groups: column chunks: dictionary page, data pages | page indexes | footer | i32 its length | PAR1
 * </pre>
 */
final class ParquetOutput implements RowOutput {
    private static final byte[] MAGIC = "PAR1".getBytes(StandardCharsets.US_ASCII);

    /** Usual encoded bytes from which on a row group is complete. */
    static final long GROUP_BYTES = 64L << 20;

    /** Most rows that are encoded column by column, and their usual bytes. */
    private static final int SLICE = 64;

    private static final long SLICE_BYTES = 1 << 20;

    private final OutputStream out;
    private final OutputTable table;
    private final MessageType schema;
    private final ParquetProperties properties;
    private final List<ColumnOutput> columns = new ArrayList<>();
    /** Writers of single columns by the indexes of their leaves. */
    private final Map<Integer, PayloadOutput> payloads = new TreeMap<>();

    private final Optional<MessageType> encoded;
    private final ParquetFooter footer;
    private final long groupBytes;
    private long position;
    private long groupRows;
    private @Nullable GroupPages pages;
    private @Nullable ColumnWriteStoreV1 store;

    /** @param groupBytes encoded bytes from which on a row group is complete */
    ParquetOutput(OutputStream out, OutputTable dataset, ParquetLayout layout, long groupBytes) throws IOException {
        this.out = out;
        this.groupBytes = groupBytes;
        this.table = layout.table(dataset);
        List<Type> types = new ArrayList<>();
        ParquetProperties.Builder builder =
                ParquetProperties.builder().withValuesWriterFactory(new EncodingChoice(this::codec));
        for (OutputColumn column : table.columns()) {
            types.add(
                    layout.isImage(column)
                            ? OutputType.file(column.name(), true, true)
                            : layout.type(column).column(column.name(), column.nullable()));
        }
        schema = new MessageType("schema", types);
        List<ColumnDescriptor> leaves = schema.getColumns();
        List<Type> ofEncoders = new ArrayList<>();
        int direct = (int) table.columns().stream().filter(this::isDirect).count();
        for (int leaf = 0; leaf < leaves.size(); leaf++) {
            ColumnDescriptor descriptor = leaves.get(leaf);
            int c = column(descriptor);
            OutputColumn column = table.columns().get(c);
            boolean isImage = layout.isImage(column);
            boolean isPath = isImage && descriptor.getPath()[1].equals(OutputType.PATH);
            if (isDirect(column) && !isPath) {
                payloads.put(leaf, new PayloadOutput(table, c, direct, isImage));
                continue;
            }
            ofEncoders.add(isPath ? OutputType.file(column.name(), false, true) : types.get(c));
            columns.add(
                    isPath
                            ? ColumnOutput.ofNoPaths(table, c, descriptor)
                            : ColumnOutput.of(table, c, descriptor, layout));
            if (column.payload()) {
                String path = String.join(".", descriptor.getPath());
                builder.withDictionaryEncoding(path, false).withStatisticsEnabled(path, false);
            }
        }
        encoded = ofEncoders.isEmpty() ? Optional.empty() : Optional.of(new MessageType("schema", ofEncoders));
        properties = builder.build();
        footer = new ParquetFooter(schema, table, layout);
        write(MAGIC);
    }

    private BlockCompressor codec(ColumnDescriptor leaf) {
        return ParquetFooter.codec(table.columns().get(column(leaf)), table.compression());
    }

    private int column(ColumnDescriptor leaf) {
        return schema.getFieldIndex(leaf.getPath()[0]);
    }

    private boolean isDirect(OutputColumn column) {
        return PayloadOutput.isFor(column, ParquetFooter.codec(column, table.compression()));
    }

    private void write(byte[] bytes) throws IOException {
        out.write(bytes);
        position += bytes.length;
    }

    @Override
    public void write(RowBatch rows) throws IOException {
        long fitting = SLICE_BYTES * rows.rows() / Math.max(1, rows.message().limit());
        int slice = (int) Math.max(1, Math.min(SLICE, fitting));
        for (int from = 0; from < rows.rows(); from += slice) {
            add(rows, from, Math.min(rows.rows(), from + slice));
        }
    }

    private void add(RowBatch rows, int from, int to) throws IOException {
        GroupPages group = group();
        if (store != null) {
            for (ColumnOutput column : columns) {
                column.write(rows, from, to, store.getColumnWriter(column.descriptor()));
            }
            for (int row = from; row < to; row++) {
                store.endRecord();
            }
        }
        long bytes = store == null ? 0 : store.getBufferedSize();
        for (Map.Entry<Integer, PayloadOutput> payload : payloads.entrySet()) {
            ColumnPages chunk = group.chunks().get(payload.getKey());
            payload.getValue().write(rows, from, to, chunk);
            bytes += chunk.bytes() + payload.getValue().buffered();
        }
        groupRows += to - from;
        if (bytes >= groupBytes) {
            endGroup();
        }
    }

    private GroupPages group() {
        if (pages == null) {
            List<ColumnDescriptor> leaves = schema.getColumns();
            GroupPages group =
                    new GroupPages(leaves, leaves.stream().map(this::codec).toList());
            pages = group;
            store = encoded.map(types -> new ColumnWriteStoreV1(types, group, properties))
                    .orElse(null);
        }
        return pages;
    }

    private void endGroup() throws IOException {
        if (pages == null) {
            return;
        }
        List<ColumnPages> chunks = pages.chunks();
        if (store != null) {
            store.flush();
        }
        for (Map.Entry<Integer, PayloadOutput> payload : payloads.entrySet()) {
            payload.getValue().flush(chunks.get(payload.getKey()));
        }
        footer.addGroup(chunks, groupRows, position);
        for (ColumnPages chunk : chunks) {
            position += chunk.writeTo(out);
        }
        payloads.forEach((column, payload) -> payload.release(chunks.get(column)));
        close();
        groupRows = 0;
    }

    @Override
    public void finish() throws IOException {
        endGroup();
        write(footer.encode(position));
        write(MAGIC);
    }

    @Override
    public void close() {
        if (store != null) {
            store.close();
        }
        store = null;
        pages = null;
    }
}
