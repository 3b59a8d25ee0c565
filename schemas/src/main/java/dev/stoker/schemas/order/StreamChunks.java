package dev.stoker.schemas.order;

import dev.stoker.schemas.chunk.AddedFields;
import dev.stoker.schemas.chunk.ChunkOverlay;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Contains the chunks of one split at one version, in ascending ordinal, with all data that order, fingerprint and
 * readers need.
 *
 * <p>Removed chunks remain as <em>ghosts</em> (ordinal and rows at commit), because lanes are assigned over every chunk
 * that the stream ever had. Columnar, with 61 bytes for each chunk without an overlay. Immutable and thread-safe.
 * Chunks are identified by their <em>index</em>, 0 … {@link #size()}-1.
 */
public final class StreamChunks {
    private static final byte GHOST = 0;
    static final byte WHOLE = 1;
    static final byte THINNED = 2;
    private static final int[] NO_ROWS = {};

    private final int size;
    private final int liveChunks;
    private final long liveRowsInAll;
    private final long[] ordinals;
    private final long[] idHigh;
    private final long[] idLow;
    /** Rows at commit. */
    private final int[] rows;

    /** {@link #GHOST}, {@link #WHOLE} or {@link #THINNED}. */
    private final byte[] states;

    private final int[] lengths;
    private final int[] crcs;
    private final int[] headLengths;
    private final int[] headCrcs;
    private final long[] largestRows;
    /** Indexes of the live chunks that lost rows, ascending. Their removed rows are stored consecutively. */
    private final int[] thinned;

    private final int[] thinnedStart;
    private final int[] removedRows;
    /** Overlays by index. */
    private final Map<Integer, ChunkOverlay> overlays;

    private final AddedFields added;
    /** The rows that a condition selects; null if there is none. */
    private final @Nullable RowSelection selected;

    StreamChunks(StreamChunksBuilder b) {
        size = b.size;
        liveChunks = b.liveChunks;
        liveRowsInAll = b.liveRows;
        ordinals = Arrays.copyOf(b.ordinals, size);
        idHigh = Arrays.copyOf(b.idHigh, size);
        idLow = Arrays.copyOf(b.idLow, size);
        rows = Arrays.copyOf(b.rows, size);
        states = Arrays.copyOf(b.states, size);
        lengths = Arrays.copyOf(b.lengths, size);
        crcs = Arrays.copyOf(b.crcs, size);
        headLengths = Arrays.copyOf(b.headLengths, size);
        headCrcs = Arrays.copyOf(b.headCrcs, size);
        largestRows = Arrays.copyOf(b.largestRows, size);
        thinned = Arrays.copyOf(b.thinned, b.thinnedCount);
        thinnedStart = Arrays.copyOf(b.thinnedStart, b.thinnedCount + 1);
        removedRows = Arrays.copyOf(b.removed, b.removedCount);
        thinnedStart[b.thinnedCount] = b.removedCount;
        overlays = Map.copyOf(b.overlays);
        added = b.added;
        selected = null;
    }

    /** Has the arrays of other chunks. */
    private StreamChunks(StreamChunks of, RowSelection selected) {
        size = of.size;
        liveRowsInAll = selected.rows();
        ordinals = of.ordinals;
        idHigh = of.idHigh;
        idLow = of.idLow;
        rows = of.rows;
        states = of.states;
        lengths = of.lengths;
        crcs = of.crcs;
        headLengths = of.headLengths;
        headCrcs = of.headCrcs;
        largestRows = of.largestRows;
        thinned = of.thinned;
        thinnedStart = of.thinnedStart;
        removedRows = of.removedRows;
        overlays = of.overlays;
        added = of.added;
        this.selected = selected;
        int live = 0;
        for (int i = 0; i < size; i++) {
            live += isLive(i) ? 1 : 0;
        }
        liveChunks = live;
    }

    /**
     * Returns the same chunks with the rows that a condition selects. The other rows count as removed, except in the
     * {@linkplain Fingerprint fingerprint}; a chunk without a selected row is not live.
     *
     * @throws IllegalArgumentException if the rows belong to other chunks, or were selected before
     */
    public StreamChunks select(RowSelection rowsOfCondition) {
        if (selected != null || rowsOfCondition.size() != size) {
            throw new IllegalArgumentException("a condition selects from all rows of a stream, once");
        }
        return new StreamChunks(this, rowsOfCondition);
    }

    /** Returns the canonical text of the condition that selects rows; empty if there is none. */
    public String where() {
        return selected == null ? "" : selected.where();
    }

    /** @param expectedChunks expected number of chunks, including ghosts; the actual number may differ */
    public static StreamChunksBuilder builder(int expectedChunks) {
        return new StreamChunksBuilder(expectedChunks);
    }

    /** Returns the number of chunks, including ghosts. */
    public int size() {
        return size;
    }

    /** Returns the number of chunks without ghosts. */
    public int liveChunks() {
        return liveChunks;
    }

    /** Returns the number of samples of the stream. */
    public long liveRows() {
        return liveRowsInAll;
    }

    public long ordinal(int index) {
        return ordinals[index];
    }

    /** Returns the index of an ordinal, or a negative number. */
    public int indexOf(long ordinal) {
        return Arrays.binarySearch(ordinals, ordinal);
    }

    /** Returns the number of rows at commit, which the file contains. */
    public int rows(int index) {
        return rows[index];
    }

    /** Returns whether the chunk has rows of the version, of which the condition, if there is one, selects some. */
    public boolean isLive(int index) {
        return isOfVersion(index) && (selected == null || selected.count(index) > 0);
    }

    /** Returns whether the chunk is part of the version, whatever rows a condition selects. */
    public boolean isOfVersion(int index) {
        return states[index] != GHOST;
    }

    /** Returns the number of rows that are still part of the version; 0 for a ghost. */
    public int liveRows(int index) {
        return selected == null ? rowsOfVersion(index) : selected.count(index);
    }

    /** Returns the number of rows of a chunk in the version, whatever a condition selects; 0 for a ghost. */
    public int rowsOfVersion(int index) {
        return switch (states[index]) {
            case GHOST -> 0;
            case WHOLE -> rows[index]; // Most chunks: their rows are found without a search.
            default -> rows[index] - removedCount(index);
        };
    }

    /** Returns the chunk's id; all zero for a ghost. */
    public UUID id(int index) {
        return new UUID(idHigh[index], idLow[index]);
    }

    public long idHigh(int index) {
        return idHigh[index];
    }

    public long idLow(int index) {
        return idLow[index];
    }

    /** Returns the length of the file; 0 for a ghost. */
    public int length(int index) {
        return lengths[index];
    }

    /** CRC-32C of the file. */
    public int crc32c(int index) {
        return crcs[index];
    }

    /** Returns the length of the head. */
    public int headLength(int index) {
        return headLengths[index];
    }

    /** CRC-32C of the head. */
    public int headCrc32c(int index) {
        return headCrcs[index];
    }

    /** Returns the overlay of a chunk, without which its head must not be used; null if it has none. */
    public @Nullable ChunkOverlay overlay(int index) {
        return overlays.get(index);
    }

    /** Returns the fields that the version has beside those of dataset.json. */
    public AddedFields added() {
        return added;
    }

    /** Returns the ids of the files of a chunk: its own id, and that of its overlay. */
    public List<UUID> files(int index) {
        ChunkOverlay overlay = overlay(index);
        return overlay == null ? List.of(id(index)) : List.of(id(index), overlay.id());
    }

    /** Returns an upper bound of a row's bytes in a batch. */
    public long largestRow(int index) {
        return largestRows[index];
    }

    /** Returns an upper bound of the bytes of any row of the stream; 0 without live chunks. */
    public long largestRow() {
        long largest = 0;
        for (int i = 0; i < size; i++) {
            largest = Math.max(largest, largestRows[i]);
        }
        return largest;
    }

    /** Returns the number of rows of a live chunk that were removed since its commit. */
    public int removedCount(int index) {
        int at = Arrays.binarySearch(thinned, index);
        return at < 0 ? 0 : thinnedStart[at + 1] - thinnedStart[at];
    }

    /**
     * Returns the rows of a live chunk that the stream has, ascending; a copy. They are those that the condition
     * selects, or else those that were not removed.
     */
    public int[] rowsOf(int index) {
        byte[] bitmap = selected == null ? null : selected.bitmap(index);
        int[] found = new int[liveRows(index)];
        int[] removed = bitmap == null ? removedRows(index) : NO_ROWS;
        int count = 0;
        int gone = 0;
        for (int row = 0; count < found.length; row++) {
            if (gone < removed.length && removed[gone] == row) {
                gone++;
            } else if (bitmap == null || (bitmap[row >> 3] >> (row & 7) & 1) != 0) {
                found[count++] = row;
            }
        }
        return found;
    }

    /** Returns the rows of a live chunk that were removed since its commit, ascending; a copy. */
    public int[] removedRows(int index) {
        int at = Arrays.binarySearch(thinned, index);
        return at < 0 ? NO_ROWS : Arrays.copyOfRange(removedRows, thinnedStart[at], thinnedStart[at + 1]);
    }
}
