package dev.stoker.formats.parquet.page;

import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.formats.block.BlockCodec;
import dev.stoker.formats.block.MemoryBudget;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.zip.CRC32;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.CompressionCodec;
import org.apache.parquet.format.DataPageHeader;
import org.apache.parquet.format.DataPageHeaderV2;
import org.apache.parquet.format.DictionaryPageHeader;
import org.apache.parquet.format.Encoding;
import org.apache.parquet.format.PageHeader;
import org.apache.parquet.format.Util;
import org.jspecify.annotations.Nullable;

/** Reads the pages of one column chunk. Verifies their checksums, if they have any. For one thread. */
public final class PageReader {
    private static final Map<CompressionCodec, BlockCodec> CODECS = Map.of(
            CompressionCodec.SNAPPY, BlockCodec.SNAPPY,
            CompressionCodec.GZIP, BlockCodec.GZIP,
            CompressionCodec.ZSTD, BlockCodec.ZSTD,
            CompressionCodec.LZ4_RAW, BlockCodec.LZ4);

    private final Leaf leaf;
    private final ByteBuffer chunk;
    private final CompressionCodec codec;
    private final long values;
    private final MemoryBudget budget;
    private final ReadLimits limits;
    private final WriterDefects defects;
    private final String what;
    private long valuesRead;
    private long pageMemory;
    private boolean isReusing;

    /** Memory for pages of numbers. */
    private byte[] reused = new byte[0];

    private @Nullable Dictionary dictionary;

    /**
     * What the reader of a file knows about it.
     *
     * @param budget counts the memory of the row group
     */
    public record Limits(MemoryBudget budget, ReadLimits values, WriterDefects defects) {}

    /**
     * @param chunk the bytes of the chunk; has an array
     * @param what the file, row group and column, for messages
     */
    public PageReader(Leaf leaf, ByteBuffer chunk, ColumnMetaData metadata, Limits limits, String what) {
        this.leaf = leaf;
        this.chunk = chunk;
        this.codec = metadata.getCodec();
        this.values = metadata.getNum_values();
        this.budget = limits.budget();
        this.limits = limits.values();
        this.defects = limits.defects();
        this.what = what;
    }

    /** Lets pages share memory: the bytes of a data page are then valid until the next page. */
    public PageReader reusing() {
        isReusing = true;
        return this;
    }

    /** Returns the next data page, or null at the end of the chunk. */
    @Nullable
    public Page next() throws IOException {
        while (valuesRead < values) {
            budget.release(pageMemory);
            pageMemory = 0;
            Page page = page();
            if (page != null) {
                valuesRead += page.values();
                if (page.values() < 0 || valuesRead > values) {
                    throw damaged("its pages have more than the " + values + " values that the footer names", null);
                }
                return page;
            }
        }
        return null;
    }

    public DamagedFileException damaged(String how, @Nullable Throwable cause) {
        return new DamagedFileException(what + " is damaged: " + how + "; restore the file from a copy", cause);
    }

    private @Nullable Page page() throws IOException {
        PageHeader header = header();
        int length = header.getCompressed_page_size();
        int size = header.getUncompressed_page_size();
        if (length < 0 || length > chunk.remaining() || size < 0) {
            throw damaged("a page declares " + length + " bytes, but only " + chunk.remaining() + " follow", null);
        }
        ByteBuffer body = chunk.slice(chunk.position(), length).order(ByteOrder.LITTLE_ENDIAN);
        chunk.position(chunk.position() + length);
        if (header.isSetCrc()) {
            CRC32 crc = new CRC32();
            crc.update(body.duplicate());
            if ((int) crc.getValue() != header.getCrc()) {
                throw damaged("the checksum of a page does not match", null);
            }
        }
        try {
            return switch (header.getType()) {
                case DATA_PAGE -> version1(header.getData_page_header(), body, size);
                case DATA_PAGE_V2 -> version2(header.getData_page_header_v2(), body, size);
                case DICTIONARY_PAGE -> {
                    readDictionary(header.getDictionary_page_header(), body, size);
                    yield null;
                }
                case INDEX_PAGE -> null;
            };
        } catch (DamagedFileException | UnsupportedFileException e) {
            throw e;
        } catch (IOException e) {
            throw damaged(LeafReader.how(e), e);
        }
    }

    private PageHeader header() throws IOException {
        int length = ThriftCheck.structLength(chunk, what + ": the header of a page");
        try {
            PageHeader header = Util.readPageHeader(
                    new ByteArrayInputStream(chunk.array(), chunk.arrayOffset() + chunk.position(), length));
            chunk.position(chunk.position() + length);
            boolean complete = switch (header.getType()) {
                case DATA_PAGE -> header.isSetData_page_header();
                case DATA_PAGE_V2 -> header.isSetData_page_header_v2();
                case DICTIONARY_PAGE -> header.isSetDictionary_page_header();
                case INDEX_PAGE -> true;
            };
            if (!complete) {
                throw damaged("the header of a page has the wrong type", null);
            }
            return header;
        } catch (DamagedFileException e) {
            throw e;
        } catch (IOException | RuntimeException e) {
            throw damaged("the header of a page is corrupt", e);
        }
    }

    private void readDictionary(DictionaryPageHeader header, ByteBuffer body, int size) throws IOException {
        if (dictionary != null) {
            throw damaged("it has two dictionaries", null);
        }
        Encoding encoding = header.getEncoding();
        if (encoding != Encoding.PLAIN && encoding != Encoding.PLAIN_DICTIONARY) {
            throw unsupported("dictionary encoding " + encoding);
        }
        int count = header.getNum_values();
        int smallest = leaf.width() == 0 ? 4 : leaf.width();
        if (count < 0 || (long) count * smallest > size) {
            throw damaged("its dictionary declares " + count + " values in " + size + " bytes", null);
        }
        ByteBuffer plain = decompress(body, size);
        // The dictionary and its tables are needed until the end of the chunk.
        budget.take(8L * count, "the dictionary of column '" + leaf.name() + "'");
        pageMemory = 0;
        dictionary = new Dictionary(plain, count, leaf);
    }

    private Page version1(DataPageHeader header, ByteBuffer body, int size) throws IOException {
        ByteBuffer plain = decompress(body, size);
        int count = header.getNum_values();
        HybridDecoder repetition = null;
        HybridDecoder definition = null;
        if (leaf.maxRepetition() > 0) {
            repetition = levels(plain, header.getRepetition_level_encoding(), leaf.maxRepetition());
        }
        if (leaf.maxDefinition() > 0) {
            definition = levels(plain, header.getDefinition_level_encoding(), leaf.maxDefinition());
        }
        return new Page(count, repetition, definition, values(header.getEncoding(), plain.slice(), count));
    }

    private HybridDecoder levels(ByteBuffer plain, Encoding encoding, int max) throws IOException {
        if (encoding != Encoding.RLE) {
            throw unsupported("levels with encoding " + encoding);
        }
        int length = plain.remaining() < 4 ? -1 : plain.getInt();
        return new HybridDecoder(take(plain, length), bitWidth(max));
    }

    private Page version2(DataPageHeaderV2 header, ByteBuffer body, int size) throws IOException {
        int repetitionLength = header.getRepetition_levels_byte_length();
        int definitionLength = header.getDefinition_levels_byte_length();
        ByteBuffer repetition = take(body, repetitionLength);
        ByteBuffer definition = take(body, definitionLength);
        int count = header.getNum_values();
        ByteBuffer rest = body.slice();
        int restSize = size - repetitionLength - definitionLength;
        boolean isCompressed =
                !header.isSetIs_compressed() || header.isIs_compressed() || defects.flagsCompressedPages();
        ByteBuffer plain;
        if (isCompressed && rest.hasRemaining()) {
            plain = decompress(rest, restSize);
        } else {
            checkSize(rest, restSize);
            plain = rest;
        }
        return new Page(
                count,
                leaf.maxRepetition() > 0 ? new HybridDecoder(repetition, bitWidth(leaf.maxRepetition())) : null,
                leaf.maxDefinition() > 0 ? new HybridDecoder(definition, bitWidth(leaf.maxDefinition())) : null,
                values(header.getEncoding(), plain.slice(), count));
    }

    private static ByteBuffer take(ByteBuffer from, int length) throws IOException {
        if (length < 0 || length > from.remaining()) {
            throw new IOException("its levels end too early");
        }
        ByteBuffer part = from.slice(from.position(), length).order(ByteOrder.LITTLE_ENDIAN);
        from.position(from.position() + length);
        return part;
    }

    static int bitWidth(int max) {
        return Integer.SIZE - Integer.numberOfLeadingZeros(max);
    }

    private Page.Values values(Encoding encoding, ByteBuffer bytes, int count) {
        // A page without values may lack even a header, so the decoder is made with the first value.
        return () -> decoder(encoding, bytes, count);
    }

    private PageDecoder decoder(Encoding encoding, ByteBuffer bytes, int count) throws IOException {
        boolean binary = leaf.physical() == ValueBatch.Physical.BYTES;
        boolean integer = leaf.physical() == ValueBatch.Physical.LONG && leaf.width() > 0;
        switch (encoding) {
            case PLAIN -> {
                return new PlainDecoder(bytes, leaf);
            }
            case PLAIN_DICTIONARY, RLE_DICTIONARY -> {
                if (dictionary == null) {
                    throw new IOException("its dictionary is missing");
                }
                return dictionary.decoder(bytes);
            }
            case RLE -> {
                if (leaf.physical() == ValueBatch.Physical.LONG && leaf.width() == 0) {
                    return booleans(bytes);
                }
            }
            case DELTA_BINARY_PACKED -> {
                if (integer) {
                    return new DeltaDecoder(bytes, leaf.width() == 4);
                }
            }
            case DELTA_LENGTH_BYTE_ARRAY -> {
                if (binary && leaf.width() == 0) {
                    return DeltaBytesDecoder.lengths(bytes, count, limits.valueBytes());
                }
            }
            case DELTA_BYTE_ARRAY -> {
                if (binary) {
                    return DeltaBytesDecoder.prefixes(bytes, count, limits.valueBytes());
                }
            }
            case BYTE_STREAM_SPLIT -> {
                return new SplitDecoder(bytes, leaf);
            }
            default -> throw unsupported("encoding " + encoding);
        }
        throw new IOException("its values cannot have the encoding " + encoding);
    }

    private PageDecoder booleans(ByteBuffer bytes) throws IOException {
        ByteBuffer page = bytes.order(ByteOrder.LITTLE_ENDIAN);
        HybridDecoder decoder = new HybridDecoder(take(page, page.remaining() < 4 ? -1 : page.getInt()), 1);
        int[] bits = new int[ValueBatch.SIZE];
        return (batch, max) -> {
            decoder.read(bits, max);
            for (int i = 0; i < max; i++) {
                batch.longs[i] = bits[i];
            }
            return max;
        };
    }

    /** The codec was checked by {@link #checkCodec}. */
    private ByteBuffer decompress(ByteBuffer body, int size) throws IOException {
        BlockCodec block = CODECS.get(codec);
        if (block == null) {
            checkSize(body, size);
            return body;
        }
        if (isReusing) {
            if (size > reused.length) {
                budget.release(reused.length);
                reused = new byte[0];
                budget.take(size, "a page of column '" + leaf.name() + "'");
                reused = new byte[size];
            }
            block.decompress(body, reused, size);
            return ByteBuffer.wrap(reused, 0, size).slice().order(ByteOrder.LITTLE_ENDIAN);
        }
        budget.take(size, "a page of column '" + leaf.name() + "'");
        pageMemory = size;
        return ByteBuffer.wrap(block.decompress(body, size)).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static void checkSize(ByteBuffer plain, int size) throws IOException {
        if (plain.remaining() != size) {
            throw new IOException("the header of a page says that its " + plain.remaining()
                    + " bytes are not compressed, but also that they are " + size + " bytes without compression");
        }
    }

    /** Throws if pages with a codec cannot be read. */
    public static void checkCodec(@Nullable CompressionCodec codec, String what) throws UnsupportedFileException {
        if (codec == null || (codec != CompressionCodec.UNCOMPRESSED && !CODECS.containsKey(codec))) {
            throw unsupported(what, codec == null ? "an unknown compression" : "compression " + codec);
        }
    }

    private UnsupportedFileException unsupported(String feature) {
        return unsupported(what, feature);
    }

    private static UnsupportedFileException unsupported(String what, String feature) {
        return new UnsupportedFileException(what + " has " + feature
                + ", which Stoker does not read; write the file again with another one, such as ZSTD with PLAIN pages");
    }
}
