package dev.stoker.formats.arrow;

import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.formats.arrow.ArrowNode.ArrowType;
import dev.stoker.formats.block.BlockCodec;
import dev.stoker.formats.block.MemoryBudget;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.arrow.flatbuf.Buffer;
import org.apache.arrow.flatbuf.CompressionType;
import org.apache.arrow.flatbuf.FieldNode;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.flatbuf.Type;

/**
 * Turns the buffers of a record batch into vectors, a field at a time. Fields have their nodes and buffers in the order
 * of the schema, so a field that is not wanted is skipped by counting.
 */
final class BatchDecoder {
    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);
    private static final int PREFIX = 8;

    private final ArrowMessages messages;
    private final ArrowMessages.Body body;
    private final RecordBatch batch;
    private final Map<Long, List<Vec>> dictionaries;
    private final MemoryBudget budget;
    private final String what;

    private int node;
    private int buffer;
    private int variadic;

    /** Buffers of the field that is decoded. */
    private ByteBuffer bytes = EMPTY;

    private long bytesFrom;

    BatchDecoder(
            ArrowMessages messages,
            ArrowMessages.Body body,
            Map<Long, List<Vec>> dictionaries,
            MemoryBudget budget,
            String what) {
        this.messages = messages;
        this.body = body;
        this.batch = body.data();
        this.dictionaries = dictionaries;
        this.budget = budget;
        this.what = what;
    }

    /** Moves over a field. Exceptions of this method and of {@link #read} have a clause as their message. */
    void skip(ArrowNode field) throws IOException {
        node++;
        buffer += buffers(layout(field));
        if (isView(layout(field).id())) {
            buffer += variadicBuffers();
        }
        if (field.dictionary() == null) {
            for (ArrowNode child : field.children()) {
                skip(child);
            }
        }
    }

    /** Reads the buffers of a field and returns its vector. */
    Vec read(ArrowNode field, boolean asDictionary) throws IOException {
        int firstNode = node;
        int firstBuffer = buffer;
        int firstVariadic = variadic;
        if (asDictionary) {
            skip(new ArrowNode(field.name(), true, field.type(), field.children(), null, field.metadata()));
        } else {
            skip(field);
        }
        load(firstBuffer, buffer);
        node = firstNode;
        buffer = firstBuffer;
        variadic = firstVariadic;
        return asDictionary ? values(field) : vector(field);
    }

    private static ArrowType layout(ArrowNode field) {
        return field.dictionary() == null ? field.type() : field.dictionary().index();
    }

    private static boolean isView(byte type) {
        return type == Type.Utf8View || type == Type.BinaryView;
    }

    private static int buffers(ArrowType type) {
        return switch (type.id()) {
            case Type.Null, Type.RunEndEncoded -> 0;
            case Type.Struct_, Type.FixedSizeList -> 1;
            case Type.Binary, Type.Utf8, Type.LargeBinary, Type.LargeUtf8, Type.ListView, Type.LargeListView -> 3;
            // A union has its types, and a dense one offsets; columns beside it cannot be found, so it is refused.
            default -> 2;
        };
    }

    private int variadicBuffers() throws IOException {
        if (variadic >= batch.variadicBufferCountsLength()) {
            throw new IOException("it does not say how many buffers a view has");
        }
        long count = batch.variadicBufferCounts(variadic++);
        if (count < 0 || count > batch.buffersLength()) {
            throw new IOException("a view has " + count + " buffers");
        }
        return (int) count;
    }

    /** Reads the bytes from the first of some buffers to the end of the last one. */
    private void load(int from, int to) throws IOException {
        long start = Long.MAX_VALUE;
        long end = 0;
        if (to > batch.buffersLength()) {
            throw new IOException("it has " + batch.buffersLength() + " buffers only");
        }
        for (int i = from; i < to; i++) {
            Buffer range = batch.buffers(i);
            if (range.offset() < 0 || range.length() < 0 || range.offset() > body.bodyLength() - range.length()) {
                throw new IOException("a buffer has " + range.length() + " bytes from byte " + range.offset()
                        + " on, but the batch has " + body.bodyLength());
            }
            if (range.length() > 0) {
                start = Math.min(start, range.offset());
                end = Math.max(end, range.offset() + range.length());
            }
        }
        long length = Math.max(0, end - start);
        if (length > Integer.MAX_VALUE - 16) {
            throw new UnsupportedFileException(messages.name() + ": a column of " + what + " has " + length
                    + " bytes; more than 2 GiB cannot be read; write the file with smaller record batches");
        }
        bytesFrom = length == 0 ? 0 : start;
        budget.take(length, what);
        bytes = length == 0 ? EMPTY : messages.read(body.body() + start, (int) length);
    }

    private ByteBuffer next() throws IOException {
        Buffer range = batch.buffers(buffer++);
        if (range.length() == 0) {
            return EMPTY;
        }
        ByteBuffer stored = bytes.slice((int) (range.offset() - bytesFrom), (int) range.length())
                .order(ByteOrder.LITTLE_ENDIAN);
        if (batch.compression() == null) {
            return stored;
        }
        if (stored.limit() < PREFIX) {
            throw new IOException("a compressed buffer has " + stored.limit() + " bytes");
        }
        long size = stored.getLong(0);
        ByteBuffer compressed = stored.slice(PREFIX, stored.limit() - PREFIX).order(ByteOrder.LITTLE_ENDIAN);
        if (size == -1) {
            return compressed;
        }
        if (size < 0 || size > Integer.MAX_VALUE - 16) {
            throw new IOException("a buffer declares " + size + " bytes");
        }
        budget.take(size, what);
        BlockCodec codec = switch (batch.compression().codec()) {
            case CompressionType.LZ4_FRAME -> BlockCodec.LZ4_FRAME;
            case CompressionType.ZSTD -> BlockCodec.ZSTD;
            default ->
                throw messages.unsupported("compression " + batch.compression().codec());
        };
        return ByteBuffer.wrap(codec.decompress(compressed, (int) size)).order(ByteOrder.LITTLE_ENDIAN);
    }

    private Vec vector(ArrowNode field) throws IOException {
        if (field.dictionary() == null) {
            return values(field);
        }
        ArrowType index = field.dictionary().index();
        int length = length();
        ByteBuffer validity = validity();
        ArrowVectors.Integers indexes = new ArrowVectors.Integers(length, EMPTY, next(), index.width(), index.signed());
        List<Vec> parts = dictionaries.get(field.dictionary().id());
        if (parts == null) {
            throw new IOException("dictionary " + field.dictionary().id() + " is missing");
        }
        return new ArrowVectors.Encoded(indexes, validity, parts);
    }

    private boolean noNulls;

    private int length() throws IOException {
        if (node >= batch.nodesLength()) {
            throw new IOException("it has " + batch.nodesLength() + " fields only");
        }
        FieldNode entry = batch.nodes(node++);
        if (entry.length() < 0 || entry.length() > Integer.MAX_VALUE - 16) {
            throw new IOException("a field has " + entry.length() + " rows");
        }
        noNulls = entry.nullCount() == 0;
        return (int) entry.length();
    }

    private ByteBuffer validity() throws IOException {
        ByteBuffer bitmap = next();
        return noNulls ? EMPTY : bitmap;
    }

    private Vec values(ArrowNode field) throws IOException {
        ArrowType type = field.type();
        int length = length();
        if (type.id() == Type.Null) {
            return new NestedVectors.Nulls(length);
        }
        if (type.id() == Type.RunEndEncoded || type.id() == Type.Union) {
            throw new IOException("a field of type " + type.id() + " was selected");
        }
        ByteBuffer validity = validity();
        return switch (type.id()) {
            case Type.Bool -> new ArrowVectors.Bits(length, validity, next());
            case Type.Int, Type.Time, Type.Timestamp ->
                new ArrowVectors.Integers(length, validity, next(), type.width(), type.signed());
            case Type.Date ->
                type.width() == 4
                        ? new ArrowVectors.Integers(length, validity, next(), 4, true)
                        : new ArrowVectors.DatesInMs(length, validity, next());
            case Type.FloatingPoint -> new ArrowVectors.Floats(length, validity, next(), type.width());
            case Type.Decimal -> new ArrowVectors.Decimals(length, validity, next(), type.width(), type.scale());
            case Type.FixedSizeBinary ->
                ArrowColumns.isUuid(field)
                        ? new ArrowVectors.Uuids(length, validity, next())
                        : new ArrowVectors.FixedBytes(length, validity, next(), type.width());
            case Type.Utf8, Type.Binary ->
                new ArrowVectors.OffsetBytes(length, validity, ArrowVectors.Offsets.of(next(), 4, length + 1), next());
            case Type.LargeUtf8, Type.LargeBinary ->
                new ArrowVectors.OffsetBytes(length, validity, ArrowVectors.Offsets.of(next(), 8, length + 1), next());
            case Type.Utf8View, Type.BinaryView -> views(length, validity);
            case Type.List, Type.Map -> {
                ArrowVectors.Offsets offsets = ArrowVectors.Offsets.of(next(), 4, length + 1);
                yield new NestedVectors.OffsetLists(
                        length, validity, offsets, vector(field.children().get(0)));
            }
            case Type.LargeList -> {
                ArrowVectors.Offsets offsets = ArrowVectors.Offsets.of(next(), 8, length + 1);
                yield new NestedVectors.OffsetLists(
                        length, validity, offsets, vector(field.children().get(0)));
            }
            case Type.ListView, Type.LargeListView -> {
                int width = type.id() == Type.ListView ? 4 : 8;
                ByteBuffer offsets = next();
                ByteBuffer sizes = next();
                Vec.need(offsets, (long) length * width);
                Vec.need(sizes, (long) length * width);
                yield new NestedVectors.ListViews(
                        length,
                        validity,
                        new ArrowVectors.Offsets(offsets, width),
                        new ArrowVectors.Offsets(sizes, width),
                        vector(field.children().get(0)));
            }
            case Type.FixedSizeList ->
                new NestedVectors.FixedLists(
                        length, validity, type.width(), vector(field.children().get(0)));
            case Type.Struct_ -> {
                List<Vec> fields = new ArrayList<>();
                for (ArrowNode child : field.children()) {
                    fields.add(isRefused(child) ? skipped(child, length) : vector(child));
                }
                yield new NestedVectors.Structs(length, validity, fields);
            }
            default -> throw new IOException("a field of type " + type.id() + " was selected");
        };
    }

    private static boolean isRefused(ArrowNode field) {
        byte type = field.type().id();
        return field.dictionary() == null
                && (type == Type.Interval || type == Type.Duration || type == Type.RunEndEncoded);
    }

    /** Stands for a field of a struct that no column needs. */
    private Vec skipped(ArrowNode field, int length) throws IOException {
        skip(field);
        return new NestedVectors.Structs(length, EMPTY, List.of());
    }

    private Vec views(int length, ByteBuffer validity) throws IOException {
        ByteBuffer views = next();
        List<ByteBuffer> buffers = new ArrayList<>();
        for (int i = variadicBuffers(); i > 0; i--) {
            buffers.add(next());
        }
        return new ArrowVectors.Views(length, validity, views, buffers);
    }
}
