package dev.stoker.metadata.index.build;

import dev.stoker.metadata.Dataset;
import java.util.concurrent.Executor;
import java.util.function.LongConsumer;

/**
 * What a build of the index may use.
 *
 * @param executor reads the heads of chunks; must have {@code count} free threads
 * @param count number of chunks that are read in parallel
 * @param memoryBytes bytes of rows that all threads together keep before they use temporary files
 */
public record BuildThreads(Executor executor, int count, long memoryBytes) {

    private static final long DEFAULT_MEMORY = 256L << 20;

    public BuildThreads {
        if (count < 1 || memoryBytes < 1) {
            throw new IllegalArgumentException(count + " threads with " + memoryBytes + " bytes");
        }
    }

    /** Returns the caller's thread with an eighth of the heap, at most 256 MiB. */
    public static BuildThreads ofCaller() {
        return new BuildThreads(Runnable::run, 1, defaultMemory());
    }

    /** Returns an eighth of the heap, at most 256 MiB. */
    public static long defaultMemory() {
        return Math.min(DEFAULT_MEMORY, Runtime.getRuntime().maxMemory() / 8);
    }

    /** Returns reads with these threads. */
    public RowReads reads(Dataset dataset, LongConsumer progress) {
        return (table, chunks, scratch) -> new RowCollector(dataset, table, this, scratch, progress).collect(chunks);
    }
}
