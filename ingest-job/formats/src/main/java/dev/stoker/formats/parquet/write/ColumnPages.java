package dev.stoker.formats.parquet.write;

import dev.stoker.formats.block.BlockCompressor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.CRC32;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.page.DictionaryPage;
import org.apache.parquet.column.page.PageWriter;
import org.apache.parquet.column.statistics.SizeStatistics;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.column.statistics.geospatial.GeospatialStatistics;
import org.apache.parquet.format.DataPageHeader;
import org.apache.parquet.format.DictionaryPageHeader;
import org.apache.parquet.format.PageEncodingStats;
import org.apache.parquet.format.PageHeader;
import org.apache.parquet.format.PageType;
import org.apache.parquet.format.Util;

/** The pages of a column chunk in memory, compressed and with checksums. For one thread. */
final class ColumnPages implements PageWriter {
    private final ColumnDescriptor descriptor;
    private final BlockCompressor codec;
    private final List<Part> parts = new ArrayList<>();
    private final List<byte[]> plainPages = new ArrayList<>();
    private final Set<Encoding> encodings = EnumSet.noneOf(Encoding.class);
    private final Map<Encoding, Integer> pagesOf = new EnumMap<>(Encoding.class);
    private org.apache.parquet.format.Encoding dictionaryEncoding = org.apache.parquet.format.Encoding.PLAIN;
    private final Statistics<?> statistics;
    private final SizeStatistics sizes;
    private final PageIndex index;
    private boolean hasDictionary;
    private int dictionaryParts;
    private long values;
    private long bytes;
    private long uncompressedBytes;

    /** Bytes of the file: the first ones of an array. */
    private record Part(byte[] bytes, int length) {}

    ColumnPages(ColumnDescriptor descriptor, BlockCompressor codec) {
        this.descriptor = descriptor;
        this.codec = codec;
        this.statistics = Statistics.createStats(descriptor.getPrimitiveType());
        this.sizes = SizeStatistics.newBuilder(
                        descriptor.getPrimitiveType(),
                        descriptor.getMaxRepetitionLevel(),
                        descriptor.getMaxDefinitionLevel())
                .build();
        this.index = new PageIndex(descriptor.getPrimitiveType());
    }

    ColumnDescriptor descriptor() {
        return descriptor;
    }

    Set<Encoding> encodings() {
        return encodings;
    }

    Statistics<?> statistics() {
        return statistics;
    }

    /** Returns the bytes of text without their lengths, and the number of values with each level. */
    SizeStatistics sizes() {
        return sizes;
    }

    PageIndex index() {
        return index;
    }

    /** Returns the number of pages by their type and encoding. */
    List<PageEncodingStats> encodingStatistics() {
        List<PageEncodingStats> found = new ArrayList<>();
        pagesOf.forEach((encoding, count) -> found.add(new PageEncodingStats(
                PageType.DATA_PAGE, org.apache.parquet.format.Encoding.valueOf(encoding.name()), count)));
        if (hasDictionary) {
            found.add(new PageEncodingStats(PageType.DICTIONARY_PAGE, dictionaryEncoding, 1));
        }
        return found;
    }

    long values() {
        return values;
    }

    long bytes() {
        return bytes;
    }

    long uncompressedBytes() {
        return uncompressedBytes;
    }

    /** Returns the bytes of the dictionary page; 0 if there is none. */
    long dictionaryBytes() {
        long sum = 0;
        for (Part part : parts.subList(0, hasDictionary ? dictionaryParts : 0)) {
            sum += part.length;
        }
        return sum;
    }

    long writeTo(OutputStream out) throws IOException {
        for (Part part : parts) {
            out.write(part.bytes, 0, part.length);
        }
        return bytes;
    }

    /** Returns the arrays that {@link #addPlain} was given. */
    List<byte[]> plainPages() {
        return plainPages;
    }

    /**
     * Adds a data page in plain encoding that is not compressed.
     *
     * @param levels definition levels, with their length
     * @param page is kept until the pages are written
     * @param length bytes of the page
     * @param count number of values, with nulls
     * @param nulls number of nulls
     */
    void addPlain(byte[] levels, byte[] page, int length, int count, int nulls) throws IOException {
        PageHeader header = header(count, Encoding.RLE, Encoding.RLE, Encoding.PLAIN);
        CRC32 crc = new CRC32();
        crc.update(levels);
        crc.update(page, 0, length);
        int size = levels.length + length;
        int greatest = descriptor.getMaxDefinitionLevel();
        List<Long> histogram = new ArrayList<>();
        if (greatest > 1) { // Otherwise the number of nulls says the same.
            histogram.addAll(Collections.nCopies(greatest + 1, 0L));
            histogram.set(0, (long) nulls);
            histogram.set(greatest, (long) count - nulls);
        }
        SizeStatistics found = new SizeStatistics(
                descriptor.getPrimitiveType(), length - (long) Integer.BYTES * (count - nulls), List.of(), histogram);
        sizes.mergeStatistics(found);
        index.add(add(header, size, size, crc, parts.size()), count, null, found);
        parts.add(new Part(levels, levels.length));
        parts.add(new Part(page, length));
        plainPages.add(page);
    }

    @Override
    @SuppressWarnings("deprecation") // The interface still requires it.
    public void writePage(
            BytesInput page, int valueCount, Statistics<?> stats, Encoding rl, Encoding dl, Encoding encoding)
            throws IOException {
        throw new UnsupportedOperationException("the number of rows is needed");
    }

    @Override
    public void writePage(
            BytesInput page,
            int valueCount,
            int rowCount,
            Statistics<?> stats,
            Encoding rl,
            Encoding dl,
            Encoding encoding)
            throws IOException {
        throw new UnsupportedOperationException("the sizes are needed");
    }

    @Override
    public void writePage(
            BytesInput page,
            int valueCount,
            int rowCount,
            Statistics<?> stats,
            SizeStatistics pageSizes,
            GeospatialStatistics geospatial,
            Encoding rl,
            Encoding dl,
            Encoding encoding)
            throws IOException {
        index.add(add(header(valueCount, rl, dl, encoding), bytes(page), parts.size()), rowCount, stats, pageSizes);
        sizes.mergeStatistics(pageSizes);
        if (!stats.isEmpty()) {
            statistics.mergeStatistics(stats);
        }
    }

    private PageHeader header(int count, Encoding rl, Encoding dl, Encoding encoding) {
        PageHeader header = new PageHeader(PageType.DATA_PAGE, 0, 0);
        header.setData_page_header(new DataPageHeader(
                count,
                org.apache.parquet.format.Encoding.valueOf(encoding.name()),
                org.apache.parquet.format.Encoding.valueOf(dl.name()),
                org.apache.parquet.format.Encoding.valueOf(rl.name())));
        encodings.add(rl);
        encodings.add(dl);
        encodings.add(encoding);
        pagesOf.merge(encoding, 1, Integer::sum);
        values += count;
        return header;
    }

    /** Returns the bytes of a page. */
    static byte[] bytes(BytesInput page) throws IOException {
        PageBytes copy = new PageBytes(Math.toIntExact(page.size()));
        page.writeAllTo(copy);
        return copy.array();
    }

    /** Gives its bytes without copying them. */
    private static final class PageBytes extends ByteArrayOutputStream {
        PageBytes(int size) {
            super(size);
        }

        byte[] array() {
            return count == buf.length ? buf : toByteArray();
        }
    }

    private int add(PageHeader header, byte[] plain, int at) throws IOException {
        byte[] stored = codec.compress(plain);
        CRC32 crc = new CRC32();
        crc.update(stored);
        int size = add(header, plain.length, stored.length, crc, at);
        parts.add(at + 1, new Part(stored, stored.length));
        return size;
    }

    /** Adds a header and returns the bytes of the page with it; the caller adds the page. */
    private int add(PageHeader header, int plainLength, int storedLength, CRC32 crc, int at) throws IOException {
        header.setUncompressed_page_size(plainLength);
        header.setCompressed_page_size(storedLength);
        header.setCrc((int) crc.getValue());
        ByteArrayOutputStream encoded = new ByteArrayOutputStream(64);
        Util.writePageHeader(header, encoded);
        parts.add(at, new Part(encoded.toByteArray(), encoded.size()));
        bytes += encoded.size() + storedLength;
        uncompressedBytes += encoded.size() + plainLength;
        return encoded.size() + storedLength;
    }

    @Override
    public void writeDictionaryPage(DictionaryPage page) throws IOException {
        // The encoders give the dictionary after the data pages; it is the first page of the chunk.
        PageHeader header = new PageHeader(PageType.DICTIONARY_PAGE, 0, 0);
        header.setDictionary_page_header(new DictionaryPageHeader(
                page.getDictionarySize(),
                org.apache.parquet.format.Encoding.valueOf(page.getEncoding().name())));
        add(header, bytes(page.getBytes()), 0);
        encodings.add(page.getEncoding());
        dictionaryEncoding =
                org.apache.parquet.format.Encoding.valueOf(page.getEncoding().name());
        hasDictionary = true;
        dictionaryParts = 2;
    }

    @Override
    public void writePageV2(
            int rowCount,
            int nullCount,
            int valueCount,
            BytesInput repetitionLevels,
            BytesInput definitionLevels,
            Encoding encoding,
            BytesInput data,
            Statistics<?> stats) {
        throw new UnsupportedOperationException("pages of version 1 are written");
    }

    @Override
    public long getMemSize() {
        return bytes;
    }

    @Override
    public long allocatedSize() {
        return bytes;
    }

    @Override
    public String memUsageString(String prefix) {
        return prefix + " " + bytes + " bytes";
    }

    @Override
    public void close() {}
}
