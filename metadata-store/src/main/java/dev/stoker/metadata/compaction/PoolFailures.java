package dev.stoker.metadata.compaction;

import java.io.IOException;
import java.util.concurrent.ExecutionException;

/** Unwraps the failure of a pool's thread so that it can be thrown again. */
final class PoolFailures {

    private PoolFailures() {}

    static IOException rethrown(ExecutionException e) throws InterruptedException {
        Throwable cause = e.getCause();
        if (cause instanceof IOException failure) {
            return failure;
        }
        if (cause instanceof InterruptedException interrupt) {
            throw interrupt;
        }
        if (cause instanceof RuntimeException failure) {
            throw failure;
        }
        if (cause instanceof Error failure) {
            throw failure;
        }
        return new IOException(cause);
    }
}
