package dev.stoker.bench.storage;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * What to measure of a store.
 *
 * @param sizeBytes bytes of the test files
 * @param blockBytes bytes of one read, for each row of the table
 * @param depths reads at a time, for each column of the table
 * @param rounds how often each cell is measured
 * @param time of all reads and metadata operations together
 */
public record StorageOptions(
        long sizeBytes, List<Integer> blockBytes, List<Integer> depths, int rounds, Duration time) {

    private static final long FILE_BYTES = 64L << 20;
    /** Memory for the buffers of all reads at a time. */
    private static final long MOST_BUFFERS = 512L << 20;

    /** @throws IllegalArgumentException naming all problems */
    public StorageOptions {
        blockBytes = List.copyOf(blockBytes);
        depths = List.copyOf(depths);
        List<String> problems = new ArrayList<>();
        if (blockBytes.isEmpty() || blockBytes.stream().anyMatch(block -> block < 1)) {
            problems.add("option --block-size: a block has at least one byte");
        }
        if (depths.isEmpty() || depths.stream().anyMatch(depth -> depth < 1 || depth > 1024)) {
            problems.add("option --depth: a depth is from 1 to 1,024");
        }
        if (rounds < 1) {
            problems.add("option --rounds: " + rounds + " must be positive");
        }
        if (time.isNegative() || time.isZero()) {
            problems.add("option --seconds must be positive");
        }
        if (problems.isEmpty()) {
            long largest =
                    blockBytes.stream().mapToLong(Integer::longValue).max().orElseThrow();
            if (largest > sizeBytes) {
                problems.add("option --size: test files of " + block(sizeBytes) + " have no block of " + block(largest)
                        + "; use a greater --size or a smaller --block-size");
            }
            if (largest * depths.stream().mapToInt(Integer::intValue).max().orElseThrow() > MOST_BUFFERS) {
                problems.add("the largest block times the greatest depth is more than " + (MOST_BUFFERS >> 20)
                        + " MiB of buffers; use a smaller --block-size or --depth");
            }
        }
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException(String.join("; ", problems));
        }
    }

    /** Returns a size in the binary unit in which users type it: 4 KiB, 16 MiB. */
    public static String block(long bytes) {
        if (bytes > 0 && bytes % (1 << 20) == 0) {
            return (bytes >> 20) + " MiB";
        }
        return bytes > 0 && bytes % (1 << 10) == 0 ? (bytes >> 10) + " KiB" : bytes + " B";
    }

    /** Bytes of one test file, which has at least one block of each size. */
    long fileBytes() {
        return Math.max(
                FILE_BYTES,
                blockBytes.stream().mapToLong(Integer::longValue).max().orElseThrow());
    }

    int greatestDepth() {
        return depths.stream().mapToInt(Integer::intValue).max().orElseThrow();
    }
}
