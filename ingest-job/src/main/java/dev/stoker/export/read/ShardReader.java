package dev.stoker.export.read;

import dev.stoker.export.spec.RowOrder;
import dev.stoker.export.spec.Shard;
import dev.stoker.formats.write.RowBatch;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.selection.SampleFilter;
import dev.stoker.schemas.arrow.BatchColumns;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.batch.BatchBuilder;
import dev.stoker.schemas.batch.BatchChunk;
import dev.stoker.schemas.batch.BatchMessage;
import dev.stoker.schemas.batch.View;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.io.BufferRangeReader;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.schemas.order.StreamOrder;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Reads the samples of a shard as record batches. Verifies the checksum of every sample in a batch. A batch is valid
 * until the next one is read. For one thread.
 */
public final class ShardReader {
    private static final long BATCH_BYTES = 16L << 20;
    private static final int BATCH_ROWS = 1 << 16;
    private static final int PIECE_BYTES = 64 << 10;

    private final List<Field> fields;
    private final View view;
    private final Chunks.Part needed;
    private final Optional<SampleFilter> filter;
    private final BatchBuilder builder;
    private final Chunks chunks;
    private final ExportCursor cursor;
    private final IdentityHashMap<BatchChunk, Integer> numbers = new IdentityHashMap<>();
    private BatchChunk[] used = new BatchChunk[16];
    private int[] chunkOf = new int[1024];
    private int[] rowOf = new int[1024];
    private byte[] memory = {};
    private long left;
    private long excluded;

    private ShardReader(
            Snapshot snapshot, ExportSelection selection, ObjectStore store, StreamChunks stream, Place place) {
        this.fields = snapshot.info().fields();
        this.view = selection.view();
        boolean hasPayload = Arrays.stream(view.numbers())
                .anyMatch(number -> number > 0 && fields.get(number - 1).payload());
        this.needed = hasPayload ? Chunks.Part.WHOLE : Chunks.Part.HEAD;
        this.filter = selection.condition().map(condition -> new SampleFilter(condition, fields));
        this.builder = new BatchBuilder(fields, view);
        this.chunks = new Chunks(store, snapshot, stream, builder, place.memoryBytes);
        this.cursor = place.cursor;
        this.left = place.rows;
    }

    /** The part of an order that is read. */
    private record Place(ExportCursor cursor, long rows, long memoryBytes) {}

    /**
     * Begins to read a shard.
     *
     * @param store the dataset's
     * @param memoryBytes for chunks that are not files of this machine
     */
    public static ShardReader of(
            ObjectStore store,
            Snapshot snapshot,
            ExportSelection selection,
            RowOrder order,
            Shard shard,
            long memoryBytes)
            throws IOException {
        StreamChunks stream = snapshot.stream(shard.split());
        ExportCursor cursor = order instanceof RowOrder.Epoch epoch
                ? new EpochCursor(new StreamOrder(stream, epoch.orderSpec()).epoch(epoch.epoch()), shard.firstRow())
                : new StoredCursor(stream, shard.firstRow());
        return new ShardReader(snapshot, selection, store, stream, new Place(cursor, shard.rows(), memoryBytes));
    }

    /** Returns the number of samples so far for which the condition was not true. */
    public long excluded() {
        return excluded;
    }

    /** Returns the next samples, which are none if all that were read are excluded; null at the end. */
    public @Nullable RowBatch next() throws IOException {
        if (left == 0) {
            return null;
        }
        int rows = collect();
        BatchMessage built = builder.build(used, chunkOf, rowOf, 0, rows, ByteBuffer::allocate);
        if (memory.length < built.length()) {
            memory = new byte[built.length()];
        }
        ByteBuffer message = ByteBuffer.wrap(memory, 0, built.length());
        if (copy(built, message) != built.crc32c()) {
            throw damaged(rows);
        }
        ByteBuffer exact = message.slice(0, built.length()).order(ByteOrder.LITTLE_ENDIAN);
        return new RowBatch(rows, BatchColumns.read(exact, fields, view.numbers(), "a batch of the export"), exact);
    }

    /** Copies a message. Computes the checksum of each piece while it is in the processor's cache. */
    private static int copy(BatchMessage message, ByteBuffer target) {
        CRC32C crc = new CRC32C();
        for (ByteBuffer part : message.parts()) {
            ByteBuffer source = part.duplicate();
            int end = source.limit();
            while (source.position() < end) {
                source.limit(Math.min(end, source.position() + PIECE_BYTES));
                int from = target.position();
                target.put(source);
                crc.update(target.duplicate().flip().position(from));
            }
        }
        target.flip();
        return (int) crc.getValue();
    }

    private int collect() throws IOException {
        numbers.clear();
        Arrays.fill(used, null);
        int rows = 0;
        int seen = 0;
        long bytes = 0;
        while (left > 0 && seen < BATCH_ROWS && bytes < BATCH_BYTES && cursor.next()) {
            seen++;
            left--;
            if (isExcluded()) {
                excluded++;
                continue;
            }
            BatchChunk chunk = chunks.get(cursor.chunk(), needed);
            if (rows == rowOf.length) {
                chunkOf = Arrays.copyOf(chunkOf, 2 * rows);
                rowOf = Arrays.copyOf(rowOf, 2 * rows);
            }
            chunkOf[rows] = number(chunk);
            rowOf[rows] = cursor.row();
            rows++;
            bytes += chunk.head().rowBytes(cursor.row());
        }
        if (seen == 0) {
            throw new IllegalStateException("the order ends " + left + " samples early");
        }
        return rows;
    }

    private boolean isExcluded() throws IOException {
        if (filter.isEmpty()) {
            return false;
        }
        SampleFilter condition = filter.get();
        Chunks.Part part = condition.readsPayload() ? Chunks.Part.WHOLE : Chunks.Part.HEAD;
        BatchChunk chunk = chunks.get(cursor.chunk(), part);
        return !condition.matches(chunk.head(), chunk.bytes(), cursor.row());
    }

    private int number(BatchChunk chunk) {
        Integer known = numbers.get(chunk);
        if (known != null) {
            return known;
        }
        int number = numbers.size();
        numbers.put(chunk, number);
        if (number == used.length) {
            used = Arrays.copyOf(used, 2 * number);
        }
        used[number] = chunk;
        return number;
    }

    /** Finds the damaged sample. */
    private IOException damaged(int rows) throws IOException {
        for (int i = 0; i < rows; i++) {
            BatchChunk chunk = used[chunkOf[i]];
            if (chunk.bytes() != null) {
                ChunkReader.verifySample(
                        chunk.head(), new BufferRangeReader(chunk.head().file(), chunk.bytes()), rowOf[i]);
            }
        }
        return new IOException("samples changed in memory while they were exported; check the memory of this machine");
    }
}
