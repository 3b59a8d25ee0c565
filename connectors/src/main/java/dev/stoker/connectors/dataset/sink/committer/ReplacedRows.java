package dev.stoker.connectors.dataset.sink.committer;

import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.commit.Removal;
import dev.stoker.metadata.removal.RowsByChunk;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.schemas.order.KeyHash;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Removes the samples that new ones replace, and the samples that a source lacks. The packing tasks have found their
 * rows in the version that the ingest began with. Other writers may have committed since: a sample that a compaction
 * has moved is removed from its new chunk, and a sample that another writer has added is removed if the ingest has
 * its key.
 *
 * <p>Reads heads only if there are chunks of such commits: their chunks, the chunks of the ingest, and chunks of
 * moved samples. It
 * then uses 8 bytes for each key of these commits, and memory for a limited number of equal keys at a time. For one
 * thread.
 */
final class ReplacedRows implements Removal {

    /** Equal keys that are kept before the chunks of other writers are read for them. */
    private static final int KEYS = 1 << 18;

    private final ObjectStore store;
    private final List<ChunkSummary> own;
    private final int keysAtATime;
    private final RowsByChunk rows = new RowsByChunk();
    private long checked;
    private long count;

    /**
     * @param own new chunks
     * @param rows single rows, as of the version that was checked
     * @param checked the version whose keys were compared while packing
     */
    ReplacedRows(ObjectStore store, List<ChunkSummary> own, List<RemovedRows> rows, long checked) {
        this(store, own, rows, checked, KEYS);
    }

    ReplacedRows(ObjectStore store, List<ChunkSummary> own, List<RemovedRows> rows, long checked, int keysAtATime) {
        this.store = store;
        this.own = own;
        this.rows.addAll(rows);
        this.checked = checked;
        this.keysAtATime = keysAtATime;
    }

    /** Returns the number of samples that the last call of {@link #from} has removed. */
    long count() {
        return count;
    }

    @Override
    public List<RemovedRows> from(Snapshot base) throws IOException {
        int[] chunks = IntStream.range(0, base.table().size())
                .filter(i -> base.table().isLive(i) && base.table().addedIn(i) > checked)
                .toArray();
        if (chunks.length > 0) {
            new Search(base, chunks).run();
        }
        checked = base.version();
        return live(base);
    }

    /** Returns the rows that the version has. */
    private List<RemovedRows> live(Snapshot base) {
        List<RemovedRows> live = new ArrayList<>();
        count = 0;
        for (RemovedRows chunk : rows.list()) {
            int index = base.table().indexOf(chunk.ordinal());
            int[] left = IntStream.of(chunk.rows().orElseThrow())
                    .filter(row -> base.table().isLive(index, row))
                    .toArray();
            count += left.length;
            if (left.length > 0) {
                live.add(
                        left.length == base.table().liveRows(index)
                                ? RemovedRows.wholeChunk(chunk.ordinal())
                                : RemovedRows.of(chunk.ordinal(), left));
            }
        }
        return live;
    }

    /** Looks for keys in chunks that others have committed. */
    private final class Search {
        private final Snapshot base;
        private final int[] chunks;
        private final Set<String> wanted = new HashSet<>();
        private long[] hashes = {};

        Search(Snapshot base, int... chunks) {
            this.base = base;
            this.chunks = chunks;
        }

        void run() throws IOException {
            hashes = hashes();
            List<RemovedRows> found = rows.list();
            for (ChunkSummary chunk : own) {
                ChunkHead head = ChunkHeads.read(store, chunk);
                for (int row = 0; row < head.rows(); row++) {
                    want(head.key(row));
                }
            }
            take();
            for (RemovedRows chunk : found) {
                wantMoved(chunk);
            }
            take();
        }

        /** Wants the samples whose rows the version does not have: they were deleted, or moved by a compaction. */
        private void wantMoved(RemovedRows chunk) throws IOException {
            int index = base.table().indexOf(chunk.ordinal());
            int[] gone = IntStream.of(chunk.rows().orElseThrow())
                    .filter(row -> !base.table().isLive(index, row))
                    .toArray();
            if (gone.length == 0) {
                return;
            }
            ChunkHead head = ChunkHeads.readStored(store, base.table(), index);
            for (int row : gone) {
                want(head.key(row));
            }
        }

        private void want(String key) throws IOException {
            if (Arrays.binarySearch(hashes, hash(key)) >= 0) {
                wanted.add(key);
                if (wanted.size() == keysAtATime) {
                    take();
                }
            }
        }

        /** Adds the rows of the wanted keys. */
        private void take() throws IOException {
            if (wanted.isEmpty()) {
                return;
            }
            for (int index : chunks) {
                ChunkHead head = ChunkHeads.readStored(store, base.table(), index);
                for (int row = 0; row < head.rows(); row++) {
                    if (base.table().isLive(index, row) && wanted.contains(head.key(row))) {
                        rows.add(base.table().ordinal(index), row);
                    }
                }
            }
            wanted.clear();
        }

        private long[] hashes() throws IOException {
            long count = 0;
            for (int index : chunks) {
                count += base.table().rows(index);
            }
            long[] all = new long[Math.toIntExact(count)];
            int n = 0;
            for (int index : chunks) {
                ChunkHead head = ChunkHeads.readStored(store, base.table(), index);
                for (int row = 0; row < head.rows(); row++) {
                    all[n++] = hash(head.key(row));
                }
            }
            Arrays.sort(all);
            return all;
        }

        private static long hash(String key) {
            return KeyHash.hash(0, key.getBytes(StandardCharsets.UTF_8));
        }
    }
}
