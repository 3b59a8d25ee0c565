package dev.stoker.server.window;

import dev.stoker.schemas.batch.BatchBuilder;
import dev.stoker.schemas.batch.BatchChunk;
import dev.stoker.schemas.protocol.BatchRef;
import dev.stoker.server.chunks.ChunkBytes;
import dev.stoker.server.chunks.DirectMemory;
import dev.stoker.server.chunks.LocalFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.IdentityHashMap;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Collects where a piece's payload lies, as the slices of a BATCH_REF. One thread. */
final class PieceRefs implements BatchBuilder.Slices, AutoCloseable {
    /** More than a frame should have; such a piece is sent whole. */
    private static final int MAX_SLICES = 1 << 20;

    private final IdentityHashMap<BatchChunk, Integer> numbers = new IdentityHashMap<>();
    private ByteBuffer slices = direct(BatchRef.SLICE_BYTES * 256);
    private @Nullable BatchChunk last;
    private int lastNumber;

    void begin() {
        numbers.clear();
        last = null;
        slices.clear();
    }

    /** Whether the chunk's bytes can be referred to. */
    boolean add(BatchChunk chunk, ChunkBytes bytes, FileNumbers files) {
        Optional<LocalFile> file = bytes.file();
        int number = file.isPresent() ? files.numberOf(file.get()) : -1;
        numbers.put(chunk, number);
        return number >= 0;
    }

    @SuppressWarnings("ReferenceEquality") // Chunks are numbered by identity.
    @Override
    public void slice(BatchChunk chunk, int position, int length) {
        if (chunk != last) {
            last = chunk;
            lastNumber = Objects.requireNonNull(numbers.get(chunk), "a slice is of a chunk that was added");
        }
        put(lastNumber, length, position);
    }

    @Override
    public void zeros(int length) {
        put((int) BatchRef.ZEROS, length, 0);
    }

    private void put(int file, int length, long offset) {
        if (slices.remaining() < BatchRef.SLICE_BYTES) {
            ByteBuffer more = direct(2 * slices.capacity());
            more.put(slices.flip());
            DirectMemory.free(slices);
            slices = more;
        }
        slices.putInt(file).putInt(length).putLong(offset);
    }

    boolean fits() {
        return count() <= MAX_SLICES;
    }

    int count() {
        return slices.position() / BatchRef.SLICE_BYTES;
    }

    /** For one write; overwritten by the next piece. */
    ByteBuffer bytes() {
        return slices.duplicate().flip();
    }

    private static ByteBuffer direct(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public void close() {
        DirectMemory.free(slices);
    }
}
