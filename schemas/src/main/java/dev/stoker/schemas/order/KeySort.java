package dev.stoker.schemas.order;

import java.util.Arrays;

/**
 * Sorts indexes by unsigned 64-bit hash keys, ties by index, without boxing.
 *
 * <p>Sorts words that consist of the high bits of a key and of its index, so that only one array is moved. Keys that
 * differ in their low bits alone are rare among hashes and are compared afterwards. Counting passes over the top bits
 * leave a few words per bucket, because keys are uniform hashes. Insertion sort completes the order. A bucket that is
 * still large (keys that were not hashes) is sorted by its next bits, so the time stays near linear for any input of
 * distinct keys.
 */
public final class KeySort {
    /** Below this, insertion sort is quicker than another counting pass. */
    private static final int SMALL = 48;
    /** Above this, a pass has few buckets, because scattered writes miss the processor's caches. */
    private static final int LARGE = 1 << 16;

    private static final int BITS_OF_LARGE = 8;

    private KeySort() {}

    /** Returns the permutation that sorts {@code keys}: {@code result[i]} is the index of the i-th smallest key. */
    public static int[] order(long[] keys) {
        int n = keys.length;
        int indexBits = Integer.SIZE - Integer.numberOfLeadingZeros(n);
        long indexMask = (1L << indexBits) - 1;
        long[] words = new long[n];
        for (int i = 0; i < n; i++) {
            words[i] = (keys[i] & ~indexMask) | i;
        }
        sort(words, 0, n, Long.SIZE, new long[n]);
        int[] order = new int[n];
        int start = 0;
        for (int i = 0; i < n; i++) {
            order[i] = (int) (words[i] & indexMask);
            if (i + 1 == n || words[i + 1] >>> indexBits != words[i] >>> indexBits) {
                if (i > start) {
                    sortTied(keys, order, start, i + 1, indexBits);
                }
                start = i + 1;
            }
        }
        return order;
    }

    /** Sorts [from, to) of the order, which ascends there, by the lowest bits of the keys; higher bits are equal. */
    private static void sortTied(long[] keys, int[] order, int from, int to, int bits) {
        int[] tied = Arrays.copyOfRange(order, from, to);
        long[] rest = new long[tied.length];
        long differences = 0;
        for (int i = 0; i < rest.length; i++) {
            differences |= keys[tied[i]] ^ keys[tied[0]];
            rest[i] = keys[tied[i]] << (Long.SIZE - bits);
        }
        if (differences != 0) {
            // Now the low bits are the high bits, so only equal keys tie: an index has less than 32 bits.
            int[] places = order(rest);
            for (int i = 0; i < places.length; i++) {
                order[from + i] = tied[places[i]];
            }
        }
    }

    /** Sorts different words in [from, to) by the lowest {@code bitsLeft} bits; higher bits are equal. */
    private static void sort(long[] words, int from, int to, int bitsLeft, long[] scratch) {
        int n = to - from;
        if (n <= SMALL) {
            insertion(words, from, to);
            return;
        }
        int bits = Math.min(bitsLeft, n > LARGE ? BITS_OF_LARGE : 30 - Integer.numberOfLeadingZeros(n));
        int shift = bitsLeft - bits;
        int mask = (1 << bits) - 1;
        int[] end = new int[mask + 2];
        for (int i = from; i < to; i++) {
            end[((int) (words[i] >>> shift) & mask) + 1]++;
        }
        end[0] = from;
        for (int b = 0; b <= mask; b++) {
            end[b + 1] += end[b];
        }
        for (int i = from; i < to; i++) {
            // After this loop, end[b] is where bucket b ends.
            scratch[end[(int) (words[i] >>> shift) & mask]++] = words[i];
        }
        System.arraycopy(scratch, from, words, from, n);
        int start = from;
        for (int b = 0; b <= mask; b++) {
            sort(words, start, end[b], shift, scratch);
            start = end[b];
        }
    }

    private static void insertion(long[] words, int from, int to) {
        for (int i = from + 1; i < to; i++) {
            long word = words[i];
            int j = i - 1;
            while (j >= from && Long.compareUnsigned(words[j], word) > 0) {
                words[j + 1] = words[j];
                j--;
            }
            words[j + 1] = word;
        }
    }
}
