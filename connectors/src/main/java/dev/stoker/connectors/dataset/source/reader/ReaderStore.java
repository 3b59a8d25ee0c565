package dev.stoker.connectors.dataset.source.reader;

import dev.stoker.connectors.dataset.DatasetScan;
import dev.stoker.connectors.dataset.source.split.SourceChunk;
import dev.stoker.flink.failure.FailureKind;
import dev.stoker.flink.failure.Patience;
import dev.stoker.storage.ObjectStore;
import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import org.jspecify.annotations.Nullable;

/**
 * The dataset's store and the rest of the limit. The fetchers of a reader share it, because Flink replaces a fetcher
 * that has no split. One fetcher at a time loads chunks. The task's thread closes the store after the last fetcher has
 * ended.
 */
final class ReaderStore implements Closeable {

    private final DatasetScan scan;
    private final Patience patience = Patience.ofBatch();
    private volatile long rest;
    private volatile boolean isEnding;
    private volatile @Nullable ObjectStore store;

    ReaderStore(DatasetScan scan) {
        this.scan = scan;
        this.rest = scan.limit();
    }

    /** Returns whether the reader must not emit more rows. */
    boolean isLimitReached() {
        return rest == 0;
    }

    /**
     * Loads the wanted rows of a chunk, up to the limit.
     *
     * @param begin the first row
     */
    ChunkLoader.Loaded load(long version, SourceChunk chunk, int begin) throws IOException {
        try {
            ChunkLoader.Loaded loaded = patience.call(
                    "Reading chunk " + chunk.ordinal() + " of " + scan.path(),
                    () -> new ChunkLoader(store(), scan).load(version, chunk, begin, rest));
            rest = rest - loaded.rows().length;
            return loaded;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("Interrupted while reading " + scan.path());
        } catch (IOException | RuntimeException e) {
            FailureKind.endIfFinal(e);
            throw e;
        }
    }

    private ObjectStore store() throws IOException {
        if (isEnding) {
            throw new InterruptedIOException("The reader of " + scan.path() + " was closed");
        }
        ObjectStore open = store;
        if (open == null) {
            open = scan.store().open(scan.path());
            store = open;
        }
        return open;
    }

    /** Ends waits for a store that is unavailable. */
    void end() {
        isEnding = true;
    }

    @Override
    public void close() throws IOException {
        ObjectStore open = store;
        if (open != null) {
            open.close();
        }
    }
}
