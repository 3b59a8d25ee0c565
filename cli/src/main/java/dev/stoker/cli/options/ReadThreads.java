package dev.stoker.cli.options;

import dev.stoker.storage.Stores;
import org.jspecify.annotations.Nullable;

/** The option {@code --threads} of verbs that read chunks. */
public final class ReadThreads {

    /** Reads of a remote store wait rather than compute. */
    private static final int REMOTE_READS = 16;

    private ReadThreads() {}

    /**
     * Returns the number of chunks to read at a time.
     *
     * @param threads the value of the option; null for the default
     * @param path directory or URI of the dataset
     */
    public static int of(@Nullable Integer threads, String path) {
        if (threads == null) {
            int processors = Runtime.getRuntime().availableProcessors();
            return Stores.isRemote(path) ? Math.max(REMOTE_READS, processors) : processors;
        }
        if (threads < 1) {
            throw new IllegalArgumentException("option --threads: " + threads + " must be positive");
        }
        return threads;
    }
}
