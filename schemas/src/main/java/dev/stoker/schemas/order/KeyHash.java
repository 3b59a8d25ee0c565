package dev.stoker.schemas.order;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The keyed 64-bit hash of a sample's key. It determines the shuffle and the split of a sample. Frozen, because the
 * splits of a growing dataset depend on it.
 *
 * <p>{@code h = mix(seed + GOLDEN * (length + 1))}; for each 8 bytes, as a little-endian number and the last filled up
 * with zeros, {@code h = mix(h ^ word) + GOLDEN}; the result is {@code mix(h)}. {@code mix} is SplitMix64's finalizer.
 */
public final class KeyHash {

    private static final long GOLDEN = 0x9E3779B97F4A7C15L;
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private KeyHash() {}

    /** The hash of some bytes of UTF-8 under a seed. */
    public static long hash(long seed, byte[] bytes, int offset, int length) {
        long h = mix(seed + GOLDEN * (length + 1L));
        int at = offset;
        int end = offset + length;
        for (; at + 8 <= end; at += 8) {
            h = mix(h ^ (long) LONGS.get(bytes, at)) + GOLDEN;
        }
        if (at < end) {
            long word = 0;
            for (int i = end - 1; i >= at; i--) {
                word = word << 8 | (bytes[i] & 0xff);
            }
            h = mix(h ^ word) + GOLDEN;
        }
        return mix(h);
    }

    /** The hash of a whole array. */
    public static long hash(long seed, byte[] bytes) {
        return hash(seed, bytes, 0, bytes.length);
    }

    private static long mix(long value) {
        long z = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }
}
