package dev.stoker.bench.storage;

import java.util.List;

/** The blocks of some files, by number: each file's whole blocks, without its rest. Immutable. */
final class Blocks {

    /**
     * A block.
     *
     * @param file index of its file
     * @param offset in the file
     */
    record Block(int file, long offset) {}

    private final int blockBytes;
    /** Number of the first block of each file, and the number of all blocks. */
    private final long[] first;

    Blocks(List<TestFile> files, int blockBytes) {
        this.blockBytes = blockBytes;
        first = new long[files.size() + 1];
        for (int i = 0; i < files.size(); i++) {
            first[i + 1] = first[i] + files.get(i).length() / blockBytes;
        }
    }

    long count() {
        return first[first.length - 1];
    }

    /** @param number from 0 to {@link #count}, exclusively */
    Block at(long number) {
        if (number < 0 || number >= count()) {
            throw new IndexOutOfBoundsException("block " + number + " of " + count());
        }
        int low = 0;
        int high = first.length - 1;
        while (high - low > 1) {
            int middle = (low + high) >>> 1;
            if (first[middle] <= number) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return new Block(low, (number - first[low]) * blockBytes);
    }
}
