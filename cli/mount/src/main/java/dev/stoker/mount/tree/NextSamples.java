package dev.stoker.mount.tree;

import dev.stoker.metadata.index.ListEntry;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.metadata.index.SampleListing;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads samples ahead of a program that reads the files of a directory in the order of their names, as in
 * {@code cat *}. One task at a time reads; it ends when enough samples wait for the program. Thread-safe; the monitor
 * of this object guards the state, and no thread holds it during a read.
 */
final class NextSamples implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(NextSamples.class);

    /** Samples that may wait for the program. */
    static final int AHEAD = 8;

    /** Reads the content of a sample. */
    interface Reader {
        /** Returns the verified content; empty if it should not be read ahead. */
        Optional<ByteBuffer> read(ListEntry entry) throws IOException;
    }

    private record Coming(String key, CompletableFuture<Optional<ByteBuffer>> content) {}

    private final SampleIndex index;
    private final Reader reader;
    private final Executor executor;
    private final Deque<Coming> coming = new ArrayDeque<>();
    /** The key that was read last. */
    private String last = "";
    /** Gives the samples after those that are coming; null if no order was recognized. Only the task reads it. */
    private @Nullable SampleListing listing;

    private boolean isRunning;

    NextSamples(SampleIndex index, Reader reader, Executor executor) {
        this.index = index;
        this.reader = reader;
        this.executor = executor;
    }

    /** Returns the content of a sample that is about to be read, if it was read ahead. */
    Optional<ByteBuffer> take(String key) throws IOException {
        String before;
        Coming found;
        synchronized (this) {
            before = last;
            last = key;
            found = remove(key);
        }
        if (found != null) {
            wake();
            return await(found);
        }
        if (isLater(before, key)) {
            start(before, key);
        }
        return Optional.empty();
    }

    /** Removes a sample that is coming, with those before it; returns null if it is not coming. */
    private @Nullable Coming remove(String key) {
        if (coming.stream().noneMatch(next -> next.key().equals(key))) {
            return null;
        }
        Coming next = coming.remove();
        while (!next.key().equals(key)) {
            next = coming.remove();
        }
        return next;
    }

    private static boolean isLater(String before, String key) {
        int directory = key.lastIndexOf('/') + 1;
        return before.lastIndexOf('/') + 1 == directory
                && before.regionMatches(0, key, 0, directory)
                && before.compareTo(key) < 0;
    }

    private static Optional<ByteBuffer> await(Coming sample) throws IOException {
        try {
            return sample.content().get();
        } catch (ExecutionException e) {
            // The program's own read reports the error, if it is still there.
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for a sample");
        }
    }

    /** Begins to read ahead if the key follows the one before in their directory. */
    private void start(String before, String key) throws IOException {
        SampleListing found = index.list(key.substring(0, key.lastIndexOf('/') + 1), "/");
        found.skipAfter(before);
        Optional<ListEntry> next = found.next();
        while (next.isPresent() && next.get().isPrefix()) {
            next = found.next();
        }
        if (next.isPresent() && next.get().name().equals(key)) {
            synchronized (this) {
                coming.clear();
                listing = found;
            }
            wake();
        }
    }

    private synchronized void wake() {
        if (!isRunning && listing != null && coming.size() < AHEAD) {
            isRunning = true;
            try {
                executor.execute(this::run);
            } catch (RejectedExecutionException e) {
                isRunning = false;
                LOG.debug("Nothing is read ahead: the mount is ending");
            }
        }
    }

    private void run() {
        for (SampleListing now = next(); now != null; now = next()) {
            try {
                Optional<ListEntry> entry = now.next();
                if (entry.isEmpty()) {
                    end(now);
                } else if (!entry.get().isPrefix()) {
                    read(now, entry.get());
                }
            } catch (IOException | RuntimeException e) {
                LOG.debug("Nothing is read ahead for now", e);
                end(now);
            }
        }
    }

    /** Returns the listing to read from, and null, which ends the task, if there is enough. */
    private synchronized @Nullable SampleListing next() {
        SampleListing now = listing;
        if (now != null && coming.size() < AHEAD) {
            return now;
        }
        isRunning = false;
        return null;
    }

    private synchronized void end(SampleListing ended) {
        if (ended.equals(listing)) {
            listing = null;
        }
    }

    private void read(SampleListing from, ListEntry entry) {
        Coming sample = new Coming(entry.name(), new CompletableFuture<>());
        synchronized (this) {
            if (!from.equals(listing)) {
                return;
            }
            coming.add(sample);
        }
        try {
            sample.content().complete(reader.read(entry));
        } catch (IOException | RuntimeException | Error e) {
            LOG.debug("Cannot read {} ahead", entry.name(), e);
            sample.content().completeExceptionally(e);
        }
    }

    /** Reads no more ahead. */
    @Override
    public synchronized void close() {
        listing = null;
        coming.clear();
    }
}
