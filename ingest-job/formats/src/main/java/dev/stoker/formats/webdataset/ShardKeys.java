package dev.stoker.formats.webdataset;

/**
 * Remembers where each key was seen first and with which columns, in 24 bytes per key: a 64-bit hash instead of the
 * key. Two of a million keys share a hash with a probability of 3 in 10^8. Not thread-safe.
 */
final class ShardKeys {
    private static final long PRIME = 0x100000001b3L;
    private static final long SEED = 0xcbf29ce484222325L;

    private long[] hashes = new long[1 << 10];
    private long[] offsets = new long[1 << 10];
    private long[] columns = new long[1 << 10];
    private int size;

    /** Returns the offset that was stored for the key before, or -1 after storing this one. */
    long put(String key, long offset) {
        if (2 * size >= hashes.length) {
            grow();
        }
        long hash = hash(key);
        int slot = slot(hash);
        if (hashes[slot] == hash) {
            return offsets[slot];
        }
        hashes[slot] = hash;
        offsets[slot] = offset;
        size++;
        return -1;
    }

    /** Stores the columns of a key that {@link #put} has stored, one bit each. */
    void setColumns(String key, long bits) {
        columns[slot(hash(key))] = bits;
    }

    long columns(String key) {
        return columns[slot(hash(key))];
    }

    private int slot(long hash) {
        int slot = (int) hash & hashes.length - 1;
        while (hashes[slot] != 0 && hashes[slot] != hash) {
            slot = slot + 1 & hashes.length - 1;
        }
        return slot;
    }

    private void grow() {
        long[] oldHashes = hashes;
        long[] oldOffsets = offsets;
        long[] oldColumns = columns;
        hashes = new long[2 * oldHashes.length];
        offsets = new long[hashes.length];
        columns = new long[hashes.length];
        for (int i = 0; i < oldHashes.length; i++) {
            if (oldHashes[i] != 0) {
                int slot = slot(oldHashes[i]);
                hashes[slot] = oldHashes[i];
                offsets[slot] = oldOffsets[i];
                columns[slot] = oldColumns[i];
            }
        }
    }

    /** FNV-1a over the characters, mixed as SplitMix64 ends. Never 0, which marks an empty slot. */
    private static long hash(String key) {
        long hash = SEED;
        for (int i = 0; i < key.length(); i++) {
            hash = (hash ^ key.charAt(i)) * PRIME;
        }
        hash = (hash ^ hash >>> 30) * 0xbf58476d1ce4e5b9L;
        hash = (hash ^ hash >>> 27) * 0x94d049bb133111ebL;
        hash ^= hash >>> 31;
        return hash == 0 ? 1 : hash;
    }
}
