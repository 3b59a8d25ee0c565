package dev.stoker.mount.tree;

import dev.stoker.server.chunks.ChunkSource;
import dev.stoker.server.chunks.ListedChunk;
import dev.stoker.server.window.ServedStream;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;

/**
 * Recognizes readers that go through a far chunk row by row, as in a dataset in the order of its keys. It then has
 * whole chunks read, and the next ones loaded ahead. Other readers get only the bytes of their samples from far chunks.
 * Thread-safe; the monitor of this object guards the state.
 */
final class FileReadAhead implements AutoCloseable {

    /** Chunks in which the last row is remembered, so that several readers are recognized. */
    private static final int READERS = 8;

    /** A known reader in order that skips more rows than this does not read in order any more. */
    private static final int MOST_SKIPPED = 8;

    /**
     * Rows that must follow each other directly before a reader is known. A reader in random order often hits a chunk
     * near the row before, and whole chunks would cost it far more than its samples.
     */
    private static final int IN_ORDER = 2;

    /** Chunks that are loaded ahead. */
    private static final int AHEAD = 4;

    private record Wanted(int index, ListedChunk chunk) {}

    /** @param run rows before this one that were read in order; at least {@link #IN_ORDER} for a known reader */
    private record Last(int row, int run) {}

    private final ChunkSource source;
    private final Map<UUID, Last> lastRows = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<UUID, Last> eldest) {
            return size() > READERS;
        }
    };

    private final Deque<Wanted> wanted = new ArrayDeque<>();
    private String split = "";

    FileReadAhead(ChunkSource source) {
        this.source = source;
    }

    /**
     * Notes that a program reads a sample, or a part of it.
     *
     * @param index index of its chunk in the stream
     */
    synchronized void note(ServedStream of, int index, ListedChunk chunk, int row) {
        if (source.lookAheadBytes() == 0) {
            return;
        }
        Last last = lastRows.get(chunk.id());
        int run = last == null ? runBefore(chunk, row) : next(last, row);
        lastRows.put(chunk.id(), new Last(row, run));
        if (run >= IN_ORDER) {
            extend(of, index);
        }
    }

    /** Returns whether to read the whole chunk even if it is far. */
    synchronized boolean isWhole(ListedChunk chunk) {
        Last last = lastRows.get(chunk.id());
        return last == null ? isExpected(chunk) : last.run() >= IN_ORDER;
    }

    /** A known reader continues at the beginning of the next chunk. */
    private int runBefore(ListedChunk chunk, int row) {
        return isExpected(chunk) && row <= MOST_SKIPPED ? IN_ORDER : 0;
    }

    private boolean isExpected(ListedChunk chunk) {
        return wanted.stream().anyMatch(next -> next.chunk().id().equals(chunk.id()));
    }

    private static int next(Last last, int row) {
        if (row == last.row()) {
            return last.run();
        }
        int most = last.run() < IN_ORDER ? 1 : MOST_SKIPPED;
        return row > last.row() && row - last.row() <= most ? last.run() + 1 : 0;
    }

    /** Has the chunk and the next ones loaded. */
    private void extend(ServedStream of, int index) {
        if (!split.equals(of.split()) || (!wanted.isEmpty() && wanted.element().index() > index)) {
            clear();
            split = of.split();
        }
        while (!wanted.isEmpty() && wanted.element().index() < index) {
            source.unwant(wanted.remove().chunk());
        }
        long bytes = wanted.stream().mapToLong(next -> next.chunk().length()).sum();
        int next = wanted.isEmpty() ? index : wanted.getLast().index() + 1;
        while (wanted.size() <= AHEAD && next < of.chunks().size()) {
            if (of.chunks().isLive(next) && of.chunks().liveRows(next) > 0) {
                ListedChunk chunk = of.file(next);
                bytes += chunk.length();
                if (bytes > source.lookAheadBytes() && !wanted.isEmpty()) {
                    return;
                }
                source.want(chunk);
                wanted.add(new Wanted(next, chunk));
            }
            next++;
        }
    }

    private void clear() {
        wanted.forEach(next -> source.unwant(next.chunk()));
        wanted.clear();
    }

    @Override
    public synchronized void close() {
        clear();
    }
}
