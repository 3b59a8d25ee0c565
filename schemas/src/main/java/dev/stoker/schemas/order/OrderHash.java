package dev.stoker.schemas.order;

/**
 * Computes the keyed 64-bit hash of every permutation: SplitMix64's finalizer (Steele, Lea, Flood 2014; constants of
 * Stafford's mix 13), folded over the parts of a key. All values are unsigned; arithmetic wraps modulo 2^64.
 */
final class OrderHash {
    /** Purposes: the second part of each key, so that no two permutations share a hash. */
    static final int CHUNKS = 1;

    static final int ROWS = 2;
    static final int ROUNDS = 3;

    private static final long GAMMA = 0x9E3779B97F4A7C15L;
    private static final long FIRST = 0xBF58476D1CE4E5B9L;
    private static final long SECOND = 0x94D049BB133111EBL;

    private OrderHash() {}

    static long mix(long value) {
        long z = (value ^ (value >>> 30)) * FIRST;
        z = (z ^ (z >>> 27)) * SECOND;
        return z ^ (z >>> 31);
    }

    static long fold(long hash, long part) {
        return mix(hash ^ mix(part + GAMMA));
    }

    static long key(long... parts) {
        long hash = 0;
        for (long part : parts) {
            hash = fold(hash, part);
        }
        return hash;
    }
}
