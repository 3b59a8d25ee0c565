package dev.stoker.schemas.order;

/**
 * Sorts indexes by unsigned 64-bit hash keys, ties by index, without boxing.
 *
 * <p>One stable counting pass over the top bits of the keys leaves a few keys per bucket, because keys are uniform
 * hashes. Insertion sort completes the order. If a bucket is still large (keys that were not hashes), it is sorted by
 * its next bits, so the time stays near linear for any input of distinct keys.
 */
public final class KeySort {
    /** Below this, insertion sort is quicker than another counting pass. */
    private static final int SMALL = 48;

    private static final int MAX_BITS = 20;

    private KeySort() {}

    /**
     * Returns the permutation that sorts {@code keys}: {@code result[i]} is the index of the i-th smallest key.
     *
     * @param keys is overwritten with scratch values
     */
    public static int[] order(long[] keys) {
        int[] order = new int[keys.length];
        for (int i = 0; i < order.length; i++) {
            order[i] = i;
        }
        if (keys.length <= SMALL) {
            insertion(keys, order, 0, keys.length);
        } else {
            distribute(keys, order, 0, keys.length, Long.SIZE);
        }
        return order;
    }

    /** Sorts [from, to) by the lowest {@code bitsLeft} bits; higher bits are equal throughout the range. */
    private static void distribute(long[] keys, int[] order, int from, int to, int bitsLeft) {
        int n = to - from;
        int bits = Math.min(bitsLeft, Math.min(MAX_BITS, Math.max(1, 31 - Integer.numberOfLeadingZeros(n) - 2)));
        int shift = bitsLeft - bits;
        int mask = (1 << bits) - 1;
        int[] end = new int[mask + 2];
        for (int i = from; i < to; i++) {
            end[((int) (keys[i] >>> shift) & mask) + 1]++;
        }
        for (int b = 0; b <= mask; b++) {
            end[b + 1] += end[b];
        }
        long[] sortedKeys = new long[n];
        int[] sortedOrder = new int[n];
        for (int i = from; i < to; i++) {
            // After this loop, end[b] is where bucket b ends.
            int place = end[(int) (keys[i] >>> shift) & mask]++;
            sortedKeys[place] = keys[i];
            sortedOrder[place] = order[i];
        }
        System.arraycopy(sortedKeys, 0, keys, from, n);
        System.arraycopy(sortedOrder, 0, order, from, n);
        sortedKeys = null;
        sortedOrder = null;
        int start = 0;
        for (int b = 0; b <= mask; b++) {
            int stop = end[b];
            if (stop - start > SMALL && shift > 0) {
                distribute(keys, order, from + start, from + stop, shift);
            } else if (shift > 0) {
                insertion(keys, order, from + start, from + stop);
            }
            start = stop;
        }
    }

    /** Stable: equal keys keep their places, and places ascend with the index. */
    private static void insertion(long[] keys, int[] order, int from, int to) {
        for (int i = from + 1; i < to; i++) {
            long key = keys[i];
            int index = order[i];
            int j = i - 1;
            while (j >= from && Long.compareUnsigned(keys[j], key) > 0) {
                keys[j + 1] = keys[j];
                order[j + 1] = order[j];
                j--;
            }
            keys[j + 1] = key;
            order[j + 1] = index;
        }
    }
}
