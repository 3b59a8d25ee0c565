package dev.stoker.server.tiers;

import dev.stoker.server.chunks.LoadTime;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** OriginWaits for what another thread brings, as the origin's time. */
final class OriginWaits {
    private OriginWaits() {}

    static <T> Optional<T> get(CompletableFuture<T> result) throws IOException {
        LoadTime.begin();
        try {
            return Optional.ofNullable(result.get());
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException failure) {
                throw failure;
            }
            if (e.getCause() instanceof Error failure) {
                throw failure;
            }
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for a chunk");
        } finally {
            LoadTime.end();
        }
    }
}
