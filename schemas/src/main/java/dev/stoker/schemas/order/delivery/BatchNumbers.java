package dev.stoker.schemas.order.delivery;

/**
 * The numbers that a consumer takes in an epoch: {@code count} of them, from {@code first} on, every {@code stride}-th
 * that is not skipped.
 *
 * @param first the first virtual number
 * @param stride distance between two slots, at least 1
 * @param count number of batch numbers
 * @param skipped the batches that are left out
 */
public record BatchNumbers(long first, long stride, long count, SkippedBatches skipped) {

    /** Returns the slot of the first number. */
    public long firstSlot() {
        return skipped.slot(first);
    }

    /** Returns a number, also past the last one. */
    public long number(long index) {
        return skipped.number(firstSlot() + index * stride);
    }

    /** Returns the index of a number; -1 if it is not one of these. */
    public long index(long number) {
        if (number < first || skipped.contains(number)) {
            return -1;
        }
        long distance = skipped.slot(number) - firstSlot();
        return distance % stride == 0 && distance / stride < count ? distance / stride : -1;
    }

    /** Returns whether a number is one of these. */
    public boolean covers(long number) {
        return index(number) >= 0;
    }
}
