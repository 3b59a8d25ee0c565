package dev.stoker.formats.parquet.write;

import dev.stoker.formats.block.BlockCompressor;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.apache.parquet.bytes.ByteBufferAllocator;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.ParquetProperties;
import org.apache.parquet.column.values.ValuesWriter;
import org.apache.parquet.column.values.bytestreamsplit.ByteStreamSplitValuesWriter.DoubleByteStreamSplitValuesWriter;
import org.apache.parquet.column.values.bytestreamsplit.ByteStreamSplitValuesWriter.FloatByteStreamSplitValuesWriter;
import org.apache.parquet.column.values.delta.DeltaBinaryPackingValuesWriterForInteger;
import org.apache.parquet.column.values.delta.DeltaBinaryPackingValuesWriterForLong;
import org.apache.parquet.column.values.deltalengthbytearray.DeltaLengthByteArrayValuesWriter;
import org.apache.parquet.column.values.deltastrings.DeltaByteArrayWriter;
import org.apache.parquet.column.values.dictionary.DictionaryValuesWriter.PlainBinaryDictionaryValuesWriter;
import org.apache.parquet.column.values.dictionary.DictionaryValuesWriter.PlainDoubleDictionaryValuesWriter;
import org.apache.parquet.column.values.dictionary.DictionaryValuesWriter.PlainFloatDictionaryValuesWriter;
import org.apache.parquet.column.values.dictionary.DictionaryValuesWriter.PlainIntegerDictionaryValuesWriter;
import org.apache.parquet.column.values.dictionary.DictionaryValuesWriter.PlainLongDictionaryValuesWriter;
import org.apache.parquet.column.values.factory.DefaultV1ValuesWriterFactory;
import org.apache.parquet.column.values.factory.ValuesWriterFactory;
import org.apache.parquet.column.values.fallback.FallbackValuesWriter;
import org.apache.parquet.column.values.plain.PlainValuesWriter;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the encodings of the columns: a dictionary if it is smaller than plain values and its indexes are no longer
 * than deltas, or else the smallest of the following after compression.
 *
 * <pre>
 * integers   PLAIN, DELTA_BINARY_PACKED
 * floats     PLAIN, BYTE_STREAM_SPLIT
 * text       PLAIN, DELTA_LENGTH_BYTE_ARRAY, DELTA_BYTE_ARRAY
 * </pre>
 *
 * Other columns, and columns without dictionaries, are encoded as parquet-java does. For one thread.
 */
final class EncodingChoice implements ValuesWriterFactory {
    private static final int FIRST_BYTES = 1024;

    /** The name that pages of version 1 have for dictionaries. */
    @SuppressWarnings("deprecation") // Its successor is for pages of version 2.
    private static final Encoding INDEX = Encoding.PLAIN_DICTIONARY;

    private final DefaultV1ValuesWriterFactory others = new DefaultV1ValuesWriterFactory();
    private final Function<ColumnDescriptor, BlockCompressor> codecs;
    private @Nullable ParquetProperties properties;

    /** @param codecs returns the compression of a column */
    EncodingChoice(Function<ColumnDescriptor, BlockCompressor> codecs) {
        this.codecs = codecs;
    }

    @Override
    public void initialize(ParquetProperties given) {
        properties = given;
        others.initialize(given);
    }

    @Override
    public ValuesWriter newValuesWriter(ColumnDescriptor column) {
        ParquetProperties given = Objects.requireNonNull(properties, "the factory is initialized");
        if (!given.isDictionaryEnabled(column)) {
            return others.newValuesWriter(column);
        }
        BlockCompressor codec = codecs.apply(column);
        int page = given.getPageSizeThreshold();
        int dictionary = given.getDictionaryPageSizeThreshold();
        ByteBufferAllocator memory = given.getAllocator();
        PlainValuesWriter plain = new PlainValuesWriter(FIRST_BYTES, page, memory);
        return switch (column.getPrimitiveType().getPrimitiveTypeName()) {
            case INT32 ->
                FallbackValuesWriter.of(
                        new Integers(dictionary, page, memory),
                        tried(codec, plain, new DeltaBinaryPackingValuesWriterForInteger(FIRST_BYTES, page, memory)));
            case INT64 ->
                FallbackValuesWriter.of(
                        new Longs(dictionary, page, memory),
                        tried(codec, plain, new DeltaBinaryPackingValuesWriterForLong(FIRST_BYTES, page, memory)));
            case FLOAT ->
                FallbackValuesWriter.of(
                        new PlainFloatDictionaryValuesWriter(dictionary, INDEX, INDEX, memory),
                        tried(codec, plain, new FloatByteStreamSplitValuesWriter(FIRST_BYTES, page, memory)));
            case DOUBLE ->
                FallbackValuesWriter.of(
                        new PlainDoubleDictionaryValuesWriter(dictionary, INDEX, INDEX, memory),
                        tried(codec, plain, new DoubleByteStreamSplitValuesWriter(FIRST_BYTES, page, memory)));
            case BINARY ->
                FallbackValuesWriter.of(
                        new PlainBinaryDictionaryValuesWriter(dictionary, INDEX, INDEX, memory),
                        tried(
                                codec,
                                plain,
                                new DeltaLengthByteArrayValuesWriter(FIRST_BYTES, page, memory),
                                new DeltaByteArrayWriter(FIRST_BYTES, page, memory)));
            case BOOLEAN, FIXED_LEN_BYTE_ARRAY, INT96 -> {
                plain.close();
                yield others.newValuesWriter(column);
            }
        };
    }

    private static TriedEncodings tried(BlockCompressor codec, ValuesWriter... candidates) {
        return new TriedEncodings(List.of(candidates), codec);
    }

    /** A dictionary that is not used if the deltas of the first page are shorter than its indexes. */
    private static final class Integers extends PlainIntegerDictionaryValuesWriter {
        private final int page;

        Integers(int dictionary, int page, ByteBufferAllocator memory) {
            super(dictionary, INDEX, INDEX, memory);
            this.page = page;
        }

        @Override
        public boolean isCompressionSatisfying(long rawSize, long encodedSize) {
            try (ValuesWriter deltas = new DeltaBinaryPackingValuesWriterForInteger(FIRST_BYTES, page, allocator)) {
                fallBackDictionaryEncodedData(deltas);
                return super.isCompressionSatisfying(rawSize, encodedSize)
                        && deltas.getBytes().size() >= encodedSize;
            }
        }
    }

    /** The same for long integers. */
    private static final class Longs extends PlainLongDictionaryValuesWriter {
        private final int page;

        Longs(int dictionary, int page, ByteBufferAllocator memory) {
            super(dictionary, INDEX, INDEX, memory);
            this.page = page;
        }

        @Override
        public boolean isCompressionSatisfying(long rawSize, long encodedSize) {
            try (ValuesWriter deltas = new DeltaBinaryPackingValuesWriterForLong(FIRST_BYTES, page, allocator)) {
                fallBackDictionaryEncodedData(deltas);
                return super.isCompressionSatisfying(rawSize, encodedSize)
                        && deltas.getBytes().size() >= encodedSize;
            }
        }
    }
}
