package dev.stoker.bench.storage;

import java.util.Locale;

/**
 * What one cell of the table measures.
 *
 * @param pattern the order of the blocks
 * @param cache what may answer instead of the store
 * @param blockBytes bytes of one read
 * @param depth reads at a time
 */
public record ReadCase(Pattern pattern, Cache cache, int blockBytes, int depth) {

    /** The order of the blocks. */
    public enum Pattern {
        SEQUENTIAL,
        RANDOM;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** What may answer a read instead of the store. */
    public enum Cache {
        /** Nothing on this machine: reads bypass the page cache. A disk or a hypervisor can still cache. */
        COLD,
        /** The page cache, which has all files. */
        WARM,
        /** A remote store: nothing on this machine, but the store can cache. */
        REMOTE;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    public ReadCase {
        if (blockBytes < 1 || depth < 1) {
            throw new IllegalArgumentException(depth + " reads of " + blockBytes + " bytes");
        }
    }

    @Override
    public String toString() {
        return pattern + " " + cache + ", " + StorageOptions.block(blockBytes) + ", " + depth + " at a time";
    }
}
