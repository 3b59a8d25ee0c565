package dev.stoker.schemas.order;

import dev.stoker.schemas.chunk.AddedFields;
import dev.stoker.schemas.chunk.ChunkOverlay;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

/** Collects the chunks of a stream in ascending ordinal. Not thread-safe. */
public final class StreamChunksBuilder {
    int size;
    int liveChunks;
    long liveRows;
    long[] ordinals;
    long[] idHigh;
    long[] idLow;
    int[] rows;
    byte[] states;
    int[] lengths;
    int[] crcs;
    int[] headLengths;
    int[] headCrcs;
    long[] largestRows;
    int[] thinned = new int[4];
    int[] thinnedStart = new int[5];
    int[] removed = new int[16];
    int thinnedCount;
    int removedCount;
    final Map<Integer, ChunkOverlay> overlays = new HashMap<>();
    AddedFields added = AddedFields.NONE;

    StreamChunksBuilder(int expectedChunks) {
        int n = Math.max(1, expectedChunks);
        ordinals = new long[n];
        idHigh = new long[n];
        idLow = new long[n];
        rows = new int[n];
        states = new byte[n];
        lengths = new int[n];
        crcs = new int[n];
        headLengths = new int[n];
        headCrcs = new int[n];
        largestRows = new long[n];
    }

    /** Sets the fields that the version has beside those of dataset.json. */
    public StreamChunksBuilder added(AddedFields fields) {
        added = fields;
        return this;
    }

    /** Adds a chunk that is no longer part of the version but keeps its place in the lanes. */
    public StreamChunksBuilder addGhost(long ordinal, int rowsAtCommit) {
        append(ordinal, rowsAtCommit);
        return this;
    }

    /** Adds a chunk of the version with all its rows. */
    public StreamChunksBuilder addLive(long ordinal, UUID id, int rowsAtCommit, ExpectedChunk file) {
        return addLive(ordinal, id, rowsAtCommit, new int[0], file);
    }

    /**
     * Adds a chunk of the version.
     *
     * @param removedRows ascending rows that are no longer part of the version; not retained
     */
    public StreamChunksBuilder addLive(long ordinal, UUID id, int rowsAtCommit, int[] removedRows, ExpectedChunk file) {
        for (int i = 0; i < removedRows.length; i++) {
            if (removedRows[i] < 0
                    || removedRows[i] >= rowsAtCommit
                    || (i > 0 && removedRows[i] <= removedRows[i - 1])) {
                throw new IllegalArgumentException("chunk " + ordinal + " of " + rowsAtCommit
                        + " rows: removed rows must ascend within it, found " + removedRows[i] + " at place " + i);
            }
        }
        int at = append(ordinal, rowsAtCommit);
        states[at] = removedRows.length > 0 ? StreamChunks.THINNED : StreamChunks.WHOLE;
        idHigh[at] = id.getMostSignificantBits();
        idLow[at] = id.getLeastSignificantBits();
        lengths[at] = (int) file.lengthBytes();
        crcs[at] = file.crc32c();
        headLengths[at] = (int) file.headLengthBytes();
        headCrcs[at] = file.headCrc32c();
        largestRows[at] = file.largestRowBytes();
        if (file.overlay() != null) {
            overlays.put(at, file.overlay());
        }
        liveChunks++;
        liveRows += rowsAtCommit - removedRows.length;
        if (removedRows.length > 0) {
            thin(at, removedRows);
        }
        return this;
    }

    public StreamChunks build() {
        return new StreamChunks(this);
    }

    private int append(long ordinal, int rowsAtCommit) {
        if (ordinal < 0 || (size > 0 && ordinal <= ordinals[size - 1])) {
            throw new IllegalArgumentException(
                    "chunk ordinals must ascend from 0: " + ordinal + (size > 0 ? " after " + ordinals[size - 1] : ""));
        }
        if (rowsAtCommit < 0) {
            throw new IllegalArgumentException("chunk " + ordinal + " has " + rowsAtCommit + " rows");
        }
        if (size == ordinals.length) {
            grow();
        }
        ordinals[size] = ordinal;
        rows[size] = rowsAtCommit;
        return size++;
    }

    private void thin(int index, int[] removedRows) {
        if (thinnedCount == thinned.length) {
            thinned = Arrays.copyOf(thinned, thinnedCount * 2);
            thinnedStart = Arrays.copyOf(thinnedStart, thinnedCount * 2 + 1);
        }
        int needed = Math.addExact(removedCount, removedRows.length);
        if (needed > removed.length) {
            removed = Arrays.copyOf(removed, (int) Math.max(needed, Math.min(removed.length * 2L, 1 << 30)));
        }
        thinned[thinnedCount] = index;
        thinnedStart[thinnedCount++] = removedCount;
        System.arraycopy(removedRows, 0, removed, removedCount, removedRows.length);
        removedCount = needed;
    }

    private void grow() {
        int n = (int) Math.min(Integer.MAX_VALUE - 8L, size * 2L);
        ordinals = Arrays.copyOf(ordinals, n);
        idHigh = Arrays.copyOf(idHigh, n);
        idLow = Arrays.copyOf(idLow, n);
        rows = Arrays.copyOf(rows, n);
        states = Arrays.copyOf(states, n);
        lengths = Arrays.copyOf(lengths, n);
        crcs = Arrays.copyOf(crcs, n);
        headLengths = Arrays.copyOf(headLengths, n);
        headCrcs = Arrays.copyOf(headCrcs, n);
        largestRows = Arrays.copyOf(largestRows, n);
    }
}
