package dev.stoker.connectors.dataset.sink.committer;

import dev.stoker.connectors.dataset.TakenKeyException;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.order.KeyHash;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiFunction;

/**
 * Checks the keys of an ingest against keys that other writers have committed while it ran. Uses 8 bytes for each of
 * these keys, and reads the heads of the ingest's own chunks only if there are any. For one thread.
 */
final class LateKeys {

    private final ObjectStore store;
    private final List<ChunkSummary> own;
    private final BiFunction<String, String, TakenKeyException> refusal;
    private long checked;

    /** @param checked the version whose keys were checked while packing */
    LateKeys(ObjectStore store, List<ChunkSummary> own, long checked) {
        this(store, own, checked, TakenKeyException::inDataset);
    }

    /**
     * @param checked the version whose keys were checked while packing
     * @param refusal makes the exception from a key and the place of its sample
     */
    LateKeys(
            ObjectStore store,
            List<ChunkSummary> own,
            long checked,
            BiFunction<String, String, TakenKeyException> refusal) {
        this.refusal = refusal;
        this.store = store;
        this.own = own;
        this.checked = checked;
    }

    void check(Snapshot base) throws IOException {
        long[] taken = taken(base);
        if (taken.length > 0) {
            for (ChunkSummary chunk : own) {
                ChunkHead head = ChunkHeads.read(store, chunk);
                for (int row = 0; row < head.rows(); row++) {
                    String key = head.key(row);
                    if (Arrays.binarySearch(taken, hash(key)) >= 0) {
                        name(base, key);
                    }
                }
            }
        }
        checked = base.version();
    }

    private long[] taken(Snapshot base) throws IOException {
        long rows = 0;
        for (int i = 0; i < base.table().size(); i++) {
            if (isLate(base, i)) {
                rows += base.table().rows(i);
            }
        }
        long[] hashes = new long[Math.toIntExact(rows)];
        int n = 0;
        for (int i = 0; i < base.table().size(); i++) {
            if (isLate(base, i)) {
                ChunkHead head = ChunkHeads.readStored(store, base.table(), i);
                for (int row = 0; row < head.rows(); row++) {
                    hashes[n++] = hash(head.key(row));
                }
            }
        }
        Arrays.sort(hashes);
        return hashes;
    }

    private boolean isLate(Snapshot base, int chunk) {
        return base.table().isLive(chunk) && base.table().addedIn(chunk) > checked;
    }

    /** Two keys may have the same hash, so this looks for the key itself. */
    private void name(Snapshot base, String key) throws IOException {
        for (int i = 0; i < base.table().size(); i++) {
            if (isLate(base, i)) {
                ChunkHead head = ChunkHeads.readStored(store, base.table(), i);
                for (int row = 0; row < head.rows(); row++) {
                    if (head.key(row).equals(key) && !ChunkHeads.isRemoved(base.table(), i, row)) {
                        throw refusal.apply(
                                key, "version " + base.table().addedIn(i) + ", committed while this ingest ran");
                    }
                }
            }
        }
    }

    private static long hash(String key) {
        return KeyHash.hash(0, key.getBytes(StandardCharsets.UTF_8));
    }
}
