package dev.stoker.ingest.rows.read;

import dev.stoker.formats.RowPart;
import dev.stoker.ingest.rows.source.SourceFile;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * Parts of files that one task reads one after the other.
 *
 * @param number number of the run in the order of the source
 * @param pieces the parts, in the order of the source
 */
public record RowRun(int number, ArrayList<Piece> pieces) implements Serializable {
    private static final long serialVersionUID = 1;

    /**
     * A part of a file.
     *
     * @param file the file
     * @param place number of the file in the source
     * @param number number of the part in its file
     * @param offset first byte
     * @param bytes length in the file
     * @param rows number of rows, or -1 if only reading tells
     * @param memoryBytes memory that reading it takes
     */
    public record Piece(SourceFile file, int place, int number, long offset, long bytes, long rows, long memoryBytes)
            implements Serializable {
        private static final long serialVersionUID = 1;

        public static Piece of(SourceFile file, int place, RowPart part) {
            return new Piece(file, place, part.number(), part.offset(), part.bytes(), part.rows(), part.memoryBytes());
        }

        public RowPart part() {
            return new RowPart(number, offset, bytes, rows, memoryBytes);
        }
    }

    /** Returns the bytes of all parts. */
    public long bytes() {
        return pieces.stream().mapToLong(Piece::bytes).sum();
    }

    /**
     * Joins parts that follow each other, so that a run fills at least a few chunks, unless it is the only one.
     *
     * @param pieces all parts in the order of the source
     * @param leastBytes bytes of a run
     */
    public static List<RowRun> join(List<Piece> pieces, long leastBytes) {
        List<RowRun> runs = new ArrayList<>();
        ArrayList<Piece> open = new ArrayList<>();
        long bytes = 0;
        for (Piece piece : pieces) {
            open.add(piece);
            bytes += Math.max(1, piece.bytes());
            if (bytes >= leastBytes) {
                runs.add(new RowRun(runs.size(), open));
                open = new ArrayList<>();
                bytes = 0;
            }
        }
        if (!open.isEmpty()) {
            runs.add(new RowRun(runs.size(), open));
        }
        return runs;
    }
}
