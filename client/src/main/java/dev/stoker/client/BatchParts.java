package dev.stoker.client;

import dev.stoker.client.errors.FeedException;
import dev.stoker.client.errors.FeedProtocolException;
import dev.stoker.client.source.ReceivedPiece;
import dev.stoker.client.transport.Buffers;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.BatchColumns;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.protocol.BatchIdentity;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The columns of a batch, piece by piece, in received memory. They are read at the first use. Thread-safe. */
final class BatchParts implements AutoCloseable {

    /** The columns of one piece, and the index of its first row in the batch. */
    record Part(int firstRow, int rows, ByteBuffer message, List<ArrowColumn> columns) {}

    /** A row in its piece. */
    record Cell(ArrowColumn column, int row) {}

    private static final List<Part> CLOSED = List.of(new Part(0, 0, ByteBuffer.allocate(0), List.of()));

    private final List<ReceivedPiece> pieces;
    private final List<Field> fields;
    private final int[] columns;
    private final Buffers buffers;

    /** Guarded by this. */
    private @Nullable List<Part> parts;

    /**
     * @param columns numbers of the selected columns; 0 is the key
     * @param buffers get the memory back
     */
    BatchParts(List<ReceivedPiece> pieces, List<Field> fields, int[] columns, Buffers buffers) {
        this.pieces = pieces;
        this.fields = fields;
        this.columns = columns;
        this.buffers = buffers;
    }

    synchronized List<Part> all() {
        if (parts == null) {
            parts = read();
        }
        if (parts == CLOSED) {
            throw new IllegalStateException(name() + " is closed");
        }
        return parts;
    }

    /** Returns a row of the batch. The row must exist. */
    Cell cell(int column, int row) {
        for (Part part : all()) {
            if (row < part.firstRow + part.rows) {
                return new Cell(part.columns.get(column), row - part.firstRow);
            }
        }
        throw new IndexOutOfBoundsException(name() + " has no row " + row);
    }

    private String name() {
        BatchIdentity identity = pieces.get(0).header().identity();
        return "batch " + identity.number() + " of epoch " + identity.epoch();
    }

    private List<Part> read() {
        List<Part> read = new ArrayList<>();
        int first = 0;
        for (ReceivedPiece piece : pieces) {
            String what = name() + " from " + piece.from();
            try {
                List<ArrowColumn> values = BatchColumns.read(piece.message(), fields, columns, what);
                int count = values.get(0).rows();
                if (count != piece.header().identity().rows()) {
                    throw new FeedProtocolException(
                            what + " has " + count + " rows, its header says "
                                    + piece.header().identity().rows(),
                            "bad_frame");
                }
                read.add(new Part(first, count, piece.message(), values));
                first += count;
            } catch (StokerException e) {
                throw new FeedException(what + ": " + e.getMessage(), e);
            }
        }
        return List.copyOf(read);
    }

    /** Gives the memory back for the next batches. */
    @Override
    public synchronized void close() {
        if (parts != CLOSED) {
            parts = CLOSED;
            pieces.stream().filter(piece -> !piece.isAgain()).forEach(piece -> buffers.giveBack(piece.message()));
        }
    }
}
