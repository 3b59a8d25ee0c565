package dev.stoker.metadata.audit;

import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.batch.BatchBuilder;
import dev.stoker.schemas.batch.BatchChunk;
import dev.stoker.schemas.batch.BatchMessage;
import dev.stoker.schemas.batch.View;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.order.EpochOrder;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.schemas.order.WindowSlice;
import dev.stoker.schemas.order.delivery.DeliveredBatch;
import dev.stoker.schemas.order.delivery.DeliveredPiece;
import dev.stoker.schemas.protocol.BatchIdentity;
import dev.stoker.schemas.protocol.parts.PieceSource;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Computes the correct content of any piece of an epoch from the order function and the heads of the chunks. Reads
 * payload only where rows were reported as damaged. Keeps the last two windows, so pieces should be requested lane by
 * lane. Not thread-safe.
 */
final class PieceOracle {

    private static final int WINDOWS_KEPT = 2;

    private record WindowKey(long epoch, int lane, int window) {}

    private final AuditedStream stream;
    private final long feedTag;
    private final List<Field> fields;
    private final BatchBuilder wholeBuilder;
    private final Map<View, BatchBuilder> builders = new HashMap<>();
    private final Map<WindowKey, HeadWindow> windows = new LinkedHashMap<>(4, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<WindowKey, HeadWindow> eldest) {
            return size() > WINDOWS_KEPT;
        }
    };
    private ByteBuffer scratch = ByteBuffer.allocate(1 << 16);
    private BatchChunk[] chunks = new BatchChunk[64];
    private int[] chunkOf = new int[256];
    private int[] rowOf = new int[256];

    PieceOracle(AuditedStream stream, long feedTag) {
        this.stream = stream;
        this.feedTag = feedTag;
        this.fields = stream.snapshot().info().fields();
        this.wholeBuilder = new BatchBuilder(fields);
    }

    /**
     * Returns the correct content of a piece.
     *
     * @throws StokerException if a head is damaged or missing
     */
    ExpectedPiece piece(EpochOrder epoch, DeliveredBatch batch, int index, View view) throws IOException {
        return piece(epoch, batch, index, view, false);
    }

    /** Returns the correct content of a piece if the currently damaged rows were left out. */
    ExpectedPiece pieceWithoutDamage(EpochOrder epoch, DeliveredBatch batch, int index, View view) throws IOException {
        return piece(epoch, batch, index, view, true);
    }

    private ExpectedPiece piece(EpochOrder epoch, DeliveredBatch batch, int index, View view, boolean skipDamage)
            throws IOException {
        DeliveredPiece piece = batch.pieces().get(index);
        if (chunkOf.length < piece.rows()) {
            chunkOf = new int[piece.rows()];
            rowOf = new int[piece.rows()];
        }
        List<String> left = new ArrayList<>(0);
        int rows = 0;
        int base = 0;
        for (WindowSlice slice : epoch.lane(piece.lane()).slices(piece.firstRow(), piece.rows())) {
            HeadWindow window = window(epoch, piece.lane(), slice.window());
            if (chunks.length < base + window.chunks()) {
                chunks = Arrays.copyOf(chunks, 2 * (base + window.chunks()));
            }
            for (int i = slice.from(); i < slice.to(); i++) {
                int place = window.place(i);
                BatchChunk chunk = window.chunk(place);
                if (chunk == null && !skipDamage) {
                    throw window.damage(place);
                }
                if (skipDamage && (chunk == null || isDamaged(chunk.head(), window.index(place), window.row(i)))) {
                    left.add("row " + window.row(i) + " of chunk "
                            + stream.order().chunks().id(window.index(place))
                            + (chunk == null ? "" : " (" + chunk.head().key(window.row(i)) + ")"));
                    continue;
                }
                chunks[base + place] = chunk;
                chunkOf[rows] = base + place;
                rowOf[rows++] = window.row(i);
            }
            base += window.chunks();
        }
        BatchMessage message = wholeBuilder.build(chunks, chunkOf, rowOf, 0, rows, this::scratch);
        int sourceCrc = message.crc32c();
        if (!view.isWhole()) {
            message = builders.computeIfAbsent(view, columns -> new BatchBuilder(fields, columns))
                    .build(chunks, chunkOf, rowOf, 0, rows, this::scratch);
        }
        Arrays.fill(chunks, 0, base, null);
        BatchIdentity identity = new BatchIdentity(
                feedTag,
                stream.fingerprint().tag(),
                epoch.epoch(),
                piece.lane(),
                batch.number(),
                index,
                batch.pieces().size(),
                rows,
                left.size(),
                piece.repeated());
        PieceSource source = new PieceSource(rows, view.tag(), sourceCrc);
        int crc = identity.crc(source, message.crc32c(), message.length());
        return new ExpectedPiece(rows, left.size(), crc, sourceCrc, left);
    }

    private HeadWindow window(EpochOrder epoch, int lane, int window) throws IOException {
        WindowKey key = new WindowKey(epoch.epoch(), lane, window);
        HeadWindow known = windows.get(key);
        if (known == null) {
            known = new HeadWindow(stream, epoch.lane(lane), window);
            windows.put(key, known);
        }
        return known;
    }

    private boolean isDamaged(ChunkHead head, int chunk, int row) throws IOException {
        ObjectStore store = stream.dataset().store();
        StreamChunks all = stream.order().chunks();
        String name = ChunkNames.path(all.id(chunk));
        if (store.length(name) != all.length(chunk)) {
            return true;
        }
        List<Field> fields = head.fields();
        for (int f = 0; f < fields.size(); f++) {
            if (fields.get(f).payload()) {
                ByteBuffer bytes = ByteBuffer.allocate(head.payloadLength(f, row));
                store.read(name, head.payloadPosition(f, row), bytes);
                if (Crc32cs.of(bytes.flip()) != head.payloadCrc32c(f, row)) {
                    return true;
                }
            }
        }
        return false;
    }

    private ByteBuffer scratch(int bytes) {
        if (scratch.capacity() < bytes) {
            scratch = ByteBuffer.allocate((int) Math.min(Integer.MAX_VALUE - 8L, 2L * bytes));
        }
        return scratch.clear();
    }
}
