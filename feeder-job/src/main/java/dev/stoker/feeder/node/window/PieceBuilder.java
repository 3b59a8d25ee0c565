package dev.stoker.feeder.node.window;

import dev.stoker.feeder.node.chunks.ChunkBytes;
import dev.stoker.feeder.node.chunks.DirectMemory;
import dev.stoker.schemas.batch.BatchBuilder;
import dev.stoker.schemas.batch.BatchChunk;
import dev.stoker.schemas.batch.BatchMessage;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.order.DeliveredPiece;
import dev.stoker.schemas.order.WindowSlice;
import dev.stoker.schemas.protocol.BatchHeader;
import dev.stoker.schemas.protocol.BatchIdentity;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;

/**
 * Builds the pieces of one session: gathers small columns from checked heads into its scratch buffer, and payload as slices of
 * held chunks. Owned by the session's sender thread; a piece is closed before the next one is built.
 */
public final class PieceBuilder implements AutoCloseable {
    private static final int FIRST_SCRATCH = 16 << 10;

    private final GroupOrder order;
    private final long feedTag;
    private final Healer healer;
    private final WindowCursor cursor;
    private final BatchBuilder builder;
    private final List<ChunkBytes> held = new ArrayList<>();
    private ByteBuffer scratch = direct(FIRST_SCRATCH);
    /** By place in the piece's windows, one window after the other; null while no row of the chunk was met. */
    private BatchChunk[] chunks = new BatchChunk[64];

    private int[] chunkOf = new int[256];
    private int[] rowOf = new int[256];

    /**
     * @param epochs epochs of the feed, so that none beyond is opened ahead
     * @param feedTag the feed's tag for message headers
     */
    public PieceBuilder(GroupOrder order, Windows windows, Healer healer, OptionalLong epochs, long feedTag) {
        this.order = order;
        this.feedTag = feedTag;
        this.healer = healer;
        this.cursor = new WindowCursor(order, windows, epochs);
        this.builder = new BatchBuilder(order.stream().fields());
    }

    /**
     * Builds a piece.
     *
     * @throws CorruptDataException if a head is damaged, or a chunk has another length than it should, and may not be skipped
     * @throws IOException if the origin fails
     */
    public BuiltPiece build(PieceKey key) throws IOException {
        try {
            return gather(key);
        } catch (IOException | RuntimeException | Error e) {
            release();
            throw e;
        }
    }

    /**
     * Reads all samples of a piece again, compares them with their checksums, and builds the piece anew.
     *
     * @throws CorruptDataException naming chunk, row and key, if a sample stays damaged and may not be skipped
     */
    public BuiltPiece rebuild(PieceKey key) throws IOException {
        DeliveredPiece piece = key.batch().pieces().get(key.piece());
        for (WindowSlice slice : key.epoch().lane(piece.lane()).slices(piece.firstRow(), piece.rows())) {
            OpenWindow window = cursor.at(key.epoch(), piece.lane(), slice.window(), slice.to());
            for (int i = slice.from(); i < slice.to(); i++) {
                int place = window.rows.placeAt(i);
                if (window.heads[place] != null) {
                    order.stream().source().forget(window.files[place]);
                    healer.check(
                            order.stream(),
                            window.rows.chunk(place),
                            window.files[place],
                            window.heads[place],
                            window.rows.rowAt(i));
                }
            }
        }
        return build(key);
    }

    private BuiltPiece gather(PieceKey key) throws IOException {
        DeliveredPiece piece = key.batch().pieces().get(key.piece());
        int rows = 0;
        int base = 0;
        ensureRows(piece.rows());
        for (WindowSlice slice : key.epoch().lane(piece.lane()).slices(piece.firstRow(), piece.rows())) {
            OpenWindow window = cursor.at(key.epoch(), piece.lane(), slice.window(), slice.to());
            ensureChunks(base + window.rows.chunks());
            rows = gather(window, slice, base, rows);
            base += window.rows.chunks();
        }
        BatchMessage message = builder.build(chunks, chunkOf, rowOf, 0, rows, this::scratch);
        Arrays.fill(chunks, 0, base, null);
        int skipped = piece.rows() - rows;
        BatchIdentity identity = new BatchIdentity(
                feedTag,
                order.fingerprint().tag(),
                key.epoch().epoch(),
                piece.lane(),
                key.batch().number(),
                key.piece(),
                key.batch().pieces().size(),
                rows,
                skipped,
                piece.repeated());
        ByteBuffer[] parts = message.parts();
        int small = parts[0].remaining();
        ByteBuffer first = scratch.duplicate().clear().order(ByteOrder.LITTLE_ENDIAN);
        BatchHeader.of(identity, key.subscription(), message.length(), message.crc32c())
                .put(first);
        parts[0] = first.position(0).limit(BatchHeader.BYTES + small);
        return new BuiltPiece(parts, (long) BatchHeader.BYTES + message.length(), rows, skipped, held);
    }

    private int gather(OpenWindow window, WindowSlice slice, int base, int from) throws IOException {
        boolean damaged = !healer.damage().isEmpty();
        int n = from;
        for (int i = slice.from(); i < slice.to(); i++) {
            int place = window.rows.placeAt(i);
            int row = window.rows.rowAt(i);
            if (window.heads[place] == null
                    || (damaged && healer.damage().contains(window.rows.chunk(place), row))
                    || !hold(window, place, base + place, row)) {
                continue;
            }
            chunkOf[n] = base + place;
            rowOf[n] = row;
            n++;
        }
        return n;
    }

    /** Whether the chunk's bytes are there; they are held until the piece is closed. */
    private boolean hold(OpenWindow window, int place, int at, int row) throws IOException {
        if (chunks[at] != null) {
            return true;
        }
        try {
            ChunkBytes bytes = order.stream().source().hold(window.files[place]);
            held.add(bytes);
            chunks[at] = new BatchChunk(window.heads[place], bytes.bytes(), 0, window.classIds[place]);
            return true;
        } catch (CorruptDataException e) {
            healer.lose(window.rows.chunk(place), row, e);
            return false;
        }
    }

    /** Room for a message's small part behind that for the header. */
    private ByteBuffer scratch(int bytes) {
        int needed = Math.addExact(bytes, BatchHeader.BYTES);
        if (scratch.capacity() < needed) {
            DirectMemory.free(scratch);
            scratch = direct((int) Math.min(Integer.MAX_VALUE, Math.max(needed, 2L * scratch.capacity())));
        }
        return scratch.clear().position(BatchHeader.BYTES);
    }

    private static ByteBuffer direct(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private void ensureRows(int rows) {
        if (chunkOf.length < rows) {
            chunkOf = new int[rows];
            rowOf = new int[rows];
        }
    }

    private void ensureChunks(int count) {
        if (chunks.length < count) {
            chunks = Arrays.copyOf(chunks, Math.max(count, 2 * chunks.length));
        }
    }

    private void release() {
        Arrays.fill(chunks, null);
        held.forEach(ChunkBytes::close);
        held.clear();
    }

    @Override
    public void close() {
        release();
        cursor.close();
        DirectMemory.free(scratch);
    }
}
