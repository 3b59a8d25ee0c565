package dev.stoker.server.window;

import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.batch.BatchBuilder;
import dev.stoker.schemas.batch.BatchChunk;
import dev.stoker.schemas.batch.BatchMessage;
import dev.stoker.schemas.batch.View;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.order.WindowSlice;
import dev.stoker.schemas.order.delivery.DeliveredPiece;
import dev.stoker.schemas.protocol.BatchHeader;
import dev.stoker.schemas.protocol.BatchIdentity;
import dev.stoker.schemas.protocol.BatchRef;
import dev.stoker.schemas.protocol.parts.PieceSource;
import dev.stoker.server.chunks.ChunkBytes;
import dev.stoker.server.chunks.ChunkSource;
import dev.stoker.server.chunks.DirectMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Builds the pieces of one session. It gathers small columns from checked heads into its scratch buffer, and payload as
 * slices of held chunks. Owned by the session's sender thread; a piece must be closed before the next one is built.
 */
public final class PieceBuilder implements AutoCloseable {
    private static final int FIRST_SCRATCH = 16 << 10;
    /** Room for the longer of the two kinds of header, before the small part of a message. */
    private static final int HEADER_ROOM = BatchRef.HEADER_BYTES;

    private static final BatchBuilder.Slices NOWHERE = new BatchBuilder.Slices() {
        @Override
        public void slice(BatchChunk chunk, int position, int length) {
            // Only the checksum is needed.
        }

        @Override
        public void zeros(int length) {
            // Only the checksum is needed.
        }
    };

    private final GroupOrder order;
    private final long feedTag;
    private final DamageCheck damageCheck;
    private final WindowCursor cursor;
    /** Builds messages with all columns. */
    private final BatchBuilder wholeBuilder;

    private View view;
    /** Builds messages with the columns of the view. */
    private BatchBuilder builder;

    private final List<ChunkBytes> held = new ArrayList<>();
    private final PieceRefs refs = new PieceRefs();
    private ByteBuffer scratch = direct(FIRST_SCRATCH);
    /**
     * The chunks at each place of the piece's windows, one window after the other; null if no row of the chunk is in
     * the piece.
     */
    private BatchChunk[] chunks = new BatchChunk[64];
    /** The hold on the chunk at the same place. */
    private ChunkBytes[] bytesOf = new ChunkBytes[64];

    private int[] chunkOf = new int[256];
    private int[] rowOf = new int[256];

    /**
     * @param epochs number of epochs of the feed, so that later ones are not opened ahead
     * @param feedTag the feed's tag for message headers
     */
    public PieceBuilder(GroupOrder order, Windows windows, DamageCheck damageCheck, OptionalLong epochs, long feedTag) {
        this.order = order;
        this.feedTag = feedTag;
        this.damageCheck = damageCheck;
        this.cursor = new WindowCursor(order, windows, epochs);
        this.wholeBuilder = new BatchBuilder(order.stream().fields());
        this.view = View.whole(order.stream().fields().stream().map(Field::name).toList());
        this.builder = wholeBuilder;
    }

    /**
     * Continues the session at this batch of this epoch, with these lanes, so that the chunks it will need can be
     * loaded in advance.
     *
     * @param own accepts the lanes that this feeder serves; chunks of other lanes are loaded ahead only to the extent
     *     that they are read here
     */
    public void follow(long epoch, long number, IntPredicate lanes, IntPredicate own) {
        cursor.follow(epoch, number, lanes, own);
    }

    /** Limits later pieces to the columns of a view. */
    public void select(View columns) {
        if (!columns.equals(view)) {
            view = columns;
            builder = columns.isWhole()
                    ? wholeBuilder
                    : new BatchBuilder(order.stream().fields(), columns);
        }
    }

    /**
     * Builds a piece.
     *
     * @throws CorruptDataException if a head is damaged or a chunk has an unexpected length, and it may not be skipped
     * @throws IOException if the origin fails
     */
    public BuiltPiece build(PieceKey key) throws IOException {
        return build(key, null);
    }

    /**
     * Builds a piece as {@link #build(PieceKey)} does, but with references to files if possible; see {@link
     * BuiltPiece#isReference}.
     *
     * @param files numbers the files, or null for a piece without references
     */
    public BuiltPiece build(PieceKey key, @Nullable FileNumbers files) throws IOException {
        try {
            return gather(key, files);
        } catch (IOException | RuntimeException | Error e) {
            release();
            throw e;
        }
    }

    /**
     * Reads all samples of a piece again, compares them with their checksums, and rebuilds the piece.
     *
     * @throws CorruptDataException if a sample stays damaged and may not be skipped; the message names chunk, row and
     *     key
     */
    public BuiltPiece rebuild(PieceKey key) throws IOException {
        DeliveredPiece piece = key.batch().pieces().get(key.piece());
        ChunkSource source = order.stream().source();
        for (WindowSlice slice : key.epoch().lane(piece.lane()).slices(piece.firstRow(), piece.rows())) {
            OpenWindow window = cursor.at(key.epoch(), piece.lane(), slice.window(), slice.to());
            BitSet forgotten = new BitSet();
            for (int i = slice.from(); i < slice.to(); i++) {
                int place = window.rows.placeAt(i);
                if (window.heads[place] != null) {
                    // A mapped file may have been replaced since it was mapped. A chunk in memory is dropped only if it
                    // is damaged.
                    if (!source.takesMemory() && !forgotten.get(place)) {
                        forgotten.set(place);
                        source.forget(window.files[place]);
                    }
                    damageCheck.check(
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

    private BuiltPiece gather(PieceKey key, @Nullable FileNumbers files) throws IOException {
        DeliveredPiece piece = key.batch().pieces().get(key.piece());
        int rows = 0;
        int base = 0;
        cursor.closed();
        ensureRows(piece.rows());
        for (WindowSlice slice : key.epoch().lane(piece.lane()).slices(piece.firstRow(), piece.rows())) {
            OpenWindow window = cursor.at(key.epoch(), piece.lane(), slice.window(), slice.to());
            ensureChunks(base + window.rows.chunks());
            rows = gather(window, slice, base, rows);
            base += window.rows.chunks();
        }
        boolean referring = files != null && payloadOf(rows) >= (long) files.leastRow() * rows && refer(files, base);
        // The order of the next lines matters: both messages use the scratch buffer.
        int wholeCrc = view.isWhole() ? 0 : wholeCrc(rows);
        BatchMessage message = referring
                ? builder.build(chunks, chunkOf, rowOf, 0, rows, this::scratch, refs)
                : builder.build(chunks, chunkOf, rowOf, 0, rows, this::scratch);
        if (referring && !refs.fits()) {
            referring = false;
            message = builder.build(chunks, chunkOf, rowOf, 0, rows, this::scratch);
        }
        Arrays.fill(chunks, 0, base, null);
        Arrays.fill(bytesOf, 0, base, null);
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
        PieceSource from = new PieceSource(rows, view.tag(), view.isWhole() ? message.crc32c() : wholeCrc);
        BatchHeader header = BatchHeader.of(identity, from, key.subscription(), message.length(), message.crc32c());
        long bytes = (long) BatchHeader.BYTES + message.length();
        if (referring) {
            BatchRef.putHead(first, header, small, refs.count());
            ByteBuffer head = first.position(0).limit(HEADER_ROOM + small);
            return new BuiltPiece(new ByteBuffer[] {head, refs.bytes()}, bytes, rows, skipped, held, true);
        }
        int start = HEADER_ROOM - BatchHeader.BYTES;
        header.put(first.position(start));
        parts[0] = first.position(start).limit(HEADER_ROOM + small);
        return new BuiltPiece(parts, bytes, rows, skipped, held, false);
    }

    /** Returns the checksum of the message that the rows make with all columns. Reads no payload. */
    private int wholeCrc(int rows) {
        return wholeBuilder
                .build(chunks, chunkOf, rowOf, 0, rows, this::scratch, NOWHERE)
                .crc32c();
    }

    /** Returns the bytes of selected payload in the first rows that were gathered. */
    private long payloadOf(int rows) {
        List<Field> fields = order.stream().fields();
        long bytes = 0;
        for (int f = 0; f < fields.size(); f++) {
            for (int i = 0; fields.get(f).payload() && view.includes(f + 1) && i < rows; i++) {
                bytes += chunks[chunkOf[i]].head().column(f).valueLength(rowOf[i]);
            }
        }
        return bytes;
    }

    /** Returns whether every chunk of the piece has a number that the trainer knows. */
    private boolean refer(FileNumbers files, int count) {
        refs.begin();
        files.begin();
        for (int i = 0; i < count; i++) {
            if (chunks[i] != null && !refs.add(chunks[i], bytesOf[i], files)) {
                return false;
            }
        }
        return true;
    }

    private int gather(OpenWindow window, WindowSlice slice, int base, int from) throws IOException {
        boolean damaged = !damageCheck.damage().isEmpty();
        int n = from;
        for (int i = slice.from(); i < slice.to(); i++) {
            int place = window.rows.placeAt(i);
            int row = window.rows.rowAt(i);
            if (window.heads[place] == null
                    || (damaged && damageCheck.damage().contains(window.rows.chunk(place), row))
                    || !hold(window, place, base + place, row)) {
                continue;
            }
            chunkOf[n] = base + place;
            rowOf[n] = row;
            n++;
        }
        return n;
    }

    /** Holds the chunk until the piece is closed. Returns whether its bytes are available. */
    private boolean hold(OpenWindow window, int place, int at, int row) throws IOException {
        if (chunks[at] != null) {
            return true;
        }
        try {
            ChunkBytes bytes = order.stream().source().hold(window.files[place]);
            held.add(bytes);
            bytesOf[at] = bytes;
            chunks[at] = new BatchChunk(window.heads[place], bytes.bytes(), 0, window.classIds[place]);
            return true;
        } catch (CorruptDataException e) {
            damageCheck.lose(window.rows.chunk(place), row, e);
            return false;
        }
    }

    /** Returns room for the small part of a message, behind the room for the header. */
    private ByteBuffer scratch(int bytes) {
        int needed = Math.addExact(bytes, HEADER_ROOM);
        if (scratch.capacity() < needed) {
            DirectMemory.free(scratch);
            scratch = direct((int) Math.min(Integer.MAX_VALUE, Math.max(needed, 2L * scratch.capacity())));
        }
        return scratch.clear().position(HEADER_ROOM);
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
            bytesOf = Arrays.copyOf(bytesOf, chunks.length);
        }
    }

    private void release() {
        Arrays.fill(chunks, null);
        Arrays.fill(bytesOf, null);
        held.forEach(ChunkBytes::close);
        held.clear();
    }

    @Override
    public void close() {
        release();
        cursor.close();
        DirectMemory.free(scratch);
        refs.close();
    }
}
