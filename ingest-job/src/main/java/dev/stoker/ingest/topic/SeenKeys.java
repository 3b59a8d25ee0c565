package dev.stoker.ingest.topic;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.order.KeyHash;
import dev.stoker.schemas.table.ChunkTable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A set of keys, by their 64-bit hashes: 16 to 32 bytes of memory a key, and 8 in a checkpoint. At most 2^29 keys,
 * since an array holds no more slots. For one thread.
 *
 * <p>Two keys with one hash, a chance of one in a million at six million keys, make a dead letter of a good record,
 * where it can be seen. Flink's keyed state would send every record through the network and take a hundred bytes for
 * each key in every checkpoint.
 */
final class SeenKeys {

    private static final int MAX_SLOTS = 1 << 30;
    /** Hashes of one element of a checkpoint's list; an element is one array. */
    private static final int PORTION = 1 << 20;

    private long[] slots = new long[1 << 12];
    private int size;
    private boolean hasZero;

    /** @return whether the key was not in the set */
    boolean add(String key) {
        return add(hash(key));
    }

    private static long hash(String key) {
        return KeyHash.hash(0, key.getBytes(StandardCharsets.UTF_8));
    }

    private boolean add(long hash) {
        if (hash == 0) {
            boolean isNew = !hasZero;
            hasZero = true;
            return isNew;
        }
        if (2 * (size + 1) > slots.length) {
            grow();
        }
        int slot = slot(hash);
        if (slots[slot] == hash) {
            return false;
        }
        slots[slot] = hash;
        size++;
        return true;
    }

    private int slot(long hash) {
        int slot = (int) (hash >>> 20) & (slots.length - 1);
        while (slots[slot] != 0 && slots[slot] != hash) {
            slot = (slot + 1) & (slots.length - 1);
        }
        return slot;
    }

    private void grow() {
        if (slots.length == MAX_SLOTS) {
            throw new IllegalStateException(
                    "this subtask has " + size + " keys and cannot detect duplicates among more:"
                            + " raise --parallelism, or use --key offset, which needs no such check");
        }
        long[] old = slots;
        slots = new long[2 * old.length];
        for (long hash : old) {
            if (hash != 0) {
                slots[slot(hash)] = hash;
            }
        }
    }

    boolean contains(String key) {
        long hash = hash(key);
        return hash == 0 ? hasZero : slots[slot(hash)] == hash;
    }

    /** Adds the keys of a version's samples; reads only heads. */
    void addAll(Dataset dataset, long version) throws IOException {
        ChunkTable table = dataset.anySnapshot(version).table();
        for (int chunk = 0; chunk < table.size(); chunk++) {
            if (table.isLive(chunk)) {
                ChunkHead head = ChunkHeads.readStored(dataset.store(), table, chunk);
                for (int row = 0; row < head.rows(); row++) {
                    if (!ChunkHeads.isRemoved(table, chunk, row)) {
                        add(head.key(row));
                    }
                }
            }
        }
    }

    /** The hashes in portions for {@link #addAll(byte[])}. */
    List<byte[]> toBytes() {
        List<byte[]> portions = new ArrayList<>();
        ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES * Math.min(PORTION, size + 1));
        for (long hash : slots) {
            if (hash != 0) {
                bytes.putLong(hash);
                if (!bytes.hasRemaining()) {
                    portions.add(bytes.array());
                    bytes = ByteBuffer.allocate(bytes.capacity());
                }
            }
        }
        if (hasZero) {
            bytes.putLong(0);
        }
        portions.add(Arrays.copyOf(bytes.array(), bytes.position()));
        return portions;
    }

    void addAll(byte[] hashes) {
        ByteBuffer bytes = ByteBuffer.wrap(hashes);
        while (bytes.hasRemaining()) {
            add(bytes.getLong());
        }
    }
}
