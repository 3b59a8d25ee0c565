package dev.stoker.formats.parquet.read;

import dev.stoker.formats.BlockReader;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowPart;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.formats.arrow.EmbeddedSchema;
import dev.stoker.formats.block.MemoryBudget;
import dev.stoker.formats.filter.StatisticsFile;
import dev.stoker.formats.huggingface.Feature;
import dev.stoker.formats.parquet.column.ExportedColumns;
import dev.stoker.formats.parquet.column.ParquetColumn;
import dev.stoker.formats.parquet.column.Value;
import dev.stoker.formats.parquet.page.Leaf;
import dev.stoker.formats.parquet.page.LeafReader;
import dev.stoker.formats.parquet.page.PageReader;
import dev.stoker.formats.parquet.page.ScratchBuffers;
import dev.stoker.formats.parquet.page.SpareBuffers;
import dev.stoker.formats.parquet.page.WriterDefects;
import dev.stoker.schemas.condition.RowPredicate;
import dev.stoker.schemas.errors.ErrorText;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.parquet.format.ColumnChunk;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.CompressionCodec;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.KeyValue;
import org.apache.parquet.format.RowGroup;
import org.apache.parquet.format.SchemaElement;
import org.apache.parquet.format.converter.ParquetMetadataConverter;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.jspecify.annotations.Nullable;

/** An open Parquet file. Its parts are its row groups. For one thread at a time. */
public final class ParquetRowFile implements RowFile, StatisticsFile {
    /** Chunks that are next to each other are read together up to this size. */
    private static final long RUN_BYTES = 64L << 20;

    private final ParquetInput input;
    private final ReadLimits limits;
    private final FileMetaData footer;
    private final WriterDefects defects;
    private final ParquetSchema schema;
    private final RowSchema rows;
    private final List<RowPart> parts = new ArrayList<>();
    private final SpareBuffers buffers = new SpareBuffers();

    public ParquetRowFile(ParquetInput input, ReadLimits limits) throws IOException {
        this.input = input;
        this.limits = limits;
        footer = input.footer();
        if (footer.isSetEncryption_algorithm()) {
            throw input.encrypted("it has encrypted columns");
        }
        checkDepth(footer.getSchema());
        defects = WriterDefects.of(footer.getCreated_by());
        schema = schema(message());
        rows = schema.rows();
        long offset = 0;
        for (RowGroup group : footer.getRow_groups()) {
            check(group);
            long first = Long.MAX_VALUE;
            long bytes = 0;
            long memory = 0;
            for (ColumnChunk chunk : group.getColumns()) {
                first = Math.min(first, start(chunk.getMeta_data()));
                bytes += chunk.getMeta_data().getTotal_compressed_size();
                memory = add(memory, memory(chunk.getMeta_data()));
            }
            first = first == Long.MAX_VALUE ? offset : first;
            parts.add(new RowPart(parts.size(), first, bytes, group.getNum_rows(), memory));
            offset = first + bytes;
        }
    }

    /** Metadata that cannot be read is an error, because the columns would silently have other types without it. */
    private ParquetSchema schema(MessageType message) throws DamagedFileException {
        try {
            return new ParquetSchema(
                    message,
                    Feature.parse(metadata(Feature.METADATA_KEY)),
                    new RestoredTypes(metadata(ExportedColumns.METADATA_KEY), metadata(EmbeddedSchema.METADATA_KEY)));
        } catch (IOException e) {
            throw input.damaged(ErrorText.of(e), e);
        }
    }

    private MessageType message() throws DamagedFileException {
        FileMetaData schemaOnly = new FileMetaData(footer.getVersion(), footer.getSchema(), 0, List.of());
        schemaOnly.setColumn_orders(footer.getColumn_orders());
        try {
            return new ParquetMetadataConverter()
                    .fromParquetMetadata(schemaOnly)
                    .getFileMetaData()
                    .getSchema();
        } catch (IOException | RuntimeException e) {
            throw input.damaged("its schema is corrupt" + DamagedFileException.reason(e), e);
        }
    }

    private void checkDepth(List<SchemaElement> elements) throws DamagedFileException {
        // A list has a level for itself, for its repeated group and for its items.
        int maxDepth = 3 * limits.depth();
        long[] left = new long[maxDepth + 1];
        int depth = -1;
        for (SchemaElement element : elements) {
            while (depth > 0 && left[depth] == 0) {
                depth--;
            }
            if (depth >= 0) {
                left[depth]--;
            }
            if (element.getNum_children() > 0) {
                if (++depth > maxDepth) {
                    throw input.damaged("its schema is nested deeper than " + limits.depth() + " levels", null);
                }
                left[depth] = element.getNum_children();
            }
        }
    }

    private @Nullable String metadata(String key) {
        if (footer.getKey_value_metadata() != null) {
            for (KeyValue entry : footer.getKey_value_metadata()) {
                if (key.equals(entry.getKey())) {
                    return entry.getValue();
                }
            }
        }
        return null;
    }

    private void check(RowGroup group) throws IOException {
        String what = "row group " + parts.size();
        if (group.getColumnsSize() != schema.leaves()) {
            throw input.damaged(
                    what + " has " + group.getColumnsSize() + " columns, but the schema has " + schema.leaves(), null);
        }
        if (group.getNum_rows() < 0) {
            throw input.damaged(what + " has " + group.getNum_rows() + " rows", null);
        }
        for (ColumnChunk chunk : group.getColumns()) {
            ColumnMetaData meta = chunk.getMeta_data();
            if (chunk.isSetCrypto_metadata() || meta == null) {
                throw input.encrypted("a column of " + what + " is encrypted");
            }
            if (chunk.getFile_path() != null && !chunk.getFile_path().isEmpty()) {
                throw new UnsupportedFileException(input.name() + " has metadata only; its columns" + " are in '"
                        + chunk.getFile_path() + "'; name the files with the rows instead");
            }
            long start = start(meta);
            long size = meta.getTotal_compressed_size();
            if (start < 0 || size < 0 || meta.getNum_values() < 0 || start > input.length() - size) {
                throw input.damaged(
                        "a column of " + what + " has " + size + " bytes from byte " + start + " on, but the file has "
                                + input.length(),
                        null);
            }
        }
    }

    private static long start(ColumnMetaData meta) {
        long data = meta.getData_page_offset();
        long dictionary = meta.getDictionary_page_offset();
        return meta.isSetDictionary_page_offset() && dictionary > 0 && dictionary < data ? dictionary : data;
    }

    /** Returns the bytes to read for a column chunk, which {@link #check} has checked. */
    private long size(ColumnMetaData meta) throws IOException {
        long size = meta.getTotal_compressed_size();
        return defects.omitsDictionaryHeader()
                ? Math.min(size + WriterDefects.MAX_DICTIONARY_HEADER, input.length() - start(meta))
                : size;
    }

    private static long memory(ColumnMetaData meta) {
        long compressed = meta.getTotal_compressed_size();
        return meta.getCodec() == CompressionCodec.UNCOMPRESSED
                ? compressed
                : add(compressed, Math.max(0, meta.getTotal_uncompressed_size()));
    }

    private static long add(long a, long b) {
        return a > Long.MAX_VALUE - b ? Long.MAX_VALUE : a + b;
    }

    @Override
    public RowSchema schema() {
        return rows;
    }

    @Override
    public List<RowPart> parts() {
        return parts;
    }

    @Override
    public boolean mayMatch(RowPart part, RowPredicate predicate) {
        RowGroup group = footer.getRow_groups().get(part.number());
        return new GroupStatistics(schema.columns(), group, footer.getCreated_by()).mayMatch(predicate);
    }

    @Override
    public RowReader read(RowPart part, int[] selected) throws IOException {
        ChunkReads chunks = readChunks(part, selected);
        Value[] values = new Value[selected.length];
        for (int i = 0; i < selected.length; i++) {
            values[i] =
                    schema.columns().get(selected[i]).open(leaf -> new LeafReader(leaf, pages(leaf, chunks)), limits);
        }
        return new ParquetRowReader(values, chunks.group().getNum_rows(), firstRow(part), release(chunks));
    }

    @Override
    public Optional<BlockReader> readBlocks(RowPart part, int[] selected) throws IOException {
        for (int column : selected) {
            if (!NumberColumn.isReadable(schema.columns().get(column))) {
                return Optional.empty();
            }
        }
        ChunkReads chunks = readChunks(part, selected);
        int blockRows = ParquetBlockReader.blockRows(selected.length);
        int[] definitions = new int[blockRows];
        Map<PrimitiveTypeName, ScratchBuffers> scratch = new EnumMap<>(PrimitiveTypeName.class);
        NumberColumn[] columns = new NumberColumn[selected.length];
        for (int i = 0; i < selected.length; i++) {
            ParquetColumn column = schema.columns().get(selected[i]);
            Leaf leaf = column.source().leaf();
            columns[i] = new NumberColumn(
                    column,
                    pages(leaf, chunks).reusing(),
                    scratch.computeIfAbsent(leaf.type().getPrimitiveTypeName(), ScratchBuffers::new),
                    definitions);
        }
        return Optional.of(new ParquetBlockReader(
                columns, blockRows, chunks.group().getNum_rows(), firstRow(part), release(chunks)));
    }

    /** Returns what gives the memory of a row group back, once. */
    private Runnable release(ChunkReads chunks) {
        return () -> {
            chunks.runs().forEach(buffers::release);
            chunks.runs().clear();
        };
    }

    private long firstRow(RowPart part) {
        long first = 0;
        for (int i = 0; i < part.number(); i++) {
            first += footer.getRow_groups().get(i).getNum_rows();
        }
        return first;
    }

    /**
     * The column chunks of a row group, in memory.
     *
     * @param group the row group
     * @param bytes the chunks by leaf
     * @param runs the memory that they are in
     * @param budget counts the memory
     * @param what the row group, for messages
     */
    private record ChunkReads(
            RowGroup group, Map<Integer, ByteBuffer> bytes, List<byte[]> runs, MemoryBudget budget, String what) {}

    private ChunkReads readChunks(RowPart part, int[] selected) throws IOException {
        RowGroup group = footer.getRow_groups().get(part.number());
        String what = "row group " + part.number();
        MemoryBudget budget = new MemoryBudget(input.name(), limits);
        Map<Integer, Leaf> leaves = new TreeMap<>();
        for (int column : selected) {
            ParquetColumn chosen = schema.columns().get(column);
            leaves.put(chosen.source().leaf().index(), chosen.source().leaf());
            if (chosen.file() != null) {
                leaves.put(chosen.file().leaf().index(), chosen.file().leaf());
            }
        }
        for (Leaf leaf : leaves.values()) {
            PageReader.checkCodec(meta(group, leaf).getCodec(), columnName(leaf, what));
        }
        checkMemory(group, leaves.values(), what);
        ChunkReads chunks = new ChunkReads(group, new HashMap<>(), new ArrayList<>(), budget, what);
        readChunks(chunks, leaves.values());
        return chunks;
    }

    private PageReader pages(Leaf leaf, ChunkReads chunks) throws IOException {
        ColumnMetaData meta = chunks.group().getColumns().get(leaf.index()).getMeta_data();
        String what = chunks.what();
        if (leaf.maxRepetition() == 0 && meta.getNum_values() != chunks.group().getNum_rows()) {
            throw input.damaged(
                    "column '" + leaf.name() + "' of " + what + " has " + meta.getNum_values()
                            + " values, but the row group has " + chunks.group().getNum_rows() + " rows",
                    null);
        }
        ByteBuffer chunk = Objects.requireNonNull(chunks.bytes().get(leaf.index()), "all wanted chunks were read")
                .slice();
        return new PageReader(
                leaf, chunk, meta, new PageReader.Limits(chunks.budget(), limits, defects), columnName(leaf, what));
    }

    private String columnName(Leaf leaf, String what) {
        return input.name() + ": column '" + leaf.name() + "' of " + what;
    }

    private void checkMemory(RowGroup group, Iterable<Leaf> leaves, String what) throws IOException {
        long memory = 0;
        for (Leaf leaf : leaves) {
            memory = add(memory, memory(group.getColumns().get(leaf.index()).getMeta_data()));
        }
        new MemoryBudget(input.name(), limits).take(memory, what);
    }

    private void readChunks(ChunkReads chunks, Iterable<Leaf> leaves) throws IOException {
        RowGroup group = chunks.group();
        String what = chunks.what();
        List<Leaf> ordered = new ArrayList<>();
        leaves.forEach(ordered::add);
        ordered.sort(Comparator.comparingLong(
                leaf -> start(group.getColumns().get(leaf.index()).getMeta_data())));
        for (int from = 0; from < ordered.size(); ) {
            long start = start(meta(group, ordered.get(from)));
            long end = start + size(meta(group, ordered.get(from)));
            int to = from + 1;
            while (to < ordered.size()) {
                ColumnMetaData next = meta(group, ordered.get(to));
                long nextEnd = start(next) + size(next);
                if (start(next) != end || nextEnd - start > RUN_BYTES) {
                    break;
                }
                end = nextEnd;
                to++;
            }
            if (end - start > Integer.MAX_VALUE - 16) {
                throw new UnsupportedFileException(input.name() + ": column '"
                        + ordered.get(from).name() + "' of " + what + " has " + (end - start)
                        + " bytes; more than 2 GiB cannot be read; write the file with smaller row groups");
            }
            chunks.budget().take(end - start, what);
            byte[] memory = buffers.take((int) (end - start));
            chunks.runs().add(memory);
            ByteBuffer run =
                    ByteBuffer.wrap(memory, 0, (int) (end - start)).slice().order(ByteOrder.LITTLE_ENDIAN);
            input.read(start, run);
            for (Leaf leaf : ordered.subList(from, to)) {
                ColumnMetaData meta = meta(group, leaf);
                chunks.bytes().put(leaf.index(), run.slice((int) (start(meta) - start), (int) size(meta)));
            }
            from = to;
        }
    }

    private static ColumnMetaData meta(RowGroup group, Leaf leaf) {
        return group.getColumns().get(leaf.index()).getMeta_data();
    }

    @Override
    public void close() {}
}
