package dev.stoker.connectors.files.source.reader;

import dev.stoker.connectors.files.FileSkip;
import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.connectors.files.listing.DirectoryLister;
import dev.stoker.connectors.files.listing.UnreadableException;
import dev.stoker.connectors.files.source.event.WalkEvent;
import dev.stoker.connectors.files.source.split.DirectorySplit;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Threads that list directories ahead of the reader. The reader's thread submits and polls. The lock guards the future
 * that signals new portions to it.
 */
public final class ListingPool implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ListingPool.class);

    /** Files passed on at once. */
    private static final int PORTION = 512;
    /** Portions ahead of the reader. */
    private static final int AHEAD = 32;
    /** How long closing waits for a thread: a system call on a dead file system can take any time. */
    private static final long CLOSE_MS = 5_000;

    /**
     * A part of a directory's listing.
     *
     * @param directory the directory that is listed
     * @param files names and attributes
     * @param skipped counts of skipped entries
     * @param end the listing's end, or null if more follows
     */
    record Portion(DirectorySplit directory, List<File> files, SkipCounts skipped, WalkEvent.@Nullable Listed end) {}

    /** A file of a portion; see {@link DirectoryLister.Visitor#file}. */
    record File(String name, long size, long modifiedMs, long[] sidecars) {}

    private final DirectoryLister lister;
    private final BlockingQueue<DirectorySplit> directories = new LinkedBlockingQueue<>();
    private final BlockingQueue<Object> results = new ArrayBlockingQueue<>(AHEAD);
    private final List<Thread> threads = new ArrayList<>();
    private final Object lock = new Object();
    private CompletableFuture<Void> available = new CompletableFuture<>();
    private volatile boolean closed;

    public ListingPool(DirectoryLister lister, int threadCount) {
        this.lister = lister;
        for (int i = 0; i < threadCount; i++) {
            Thread thread = new Thread(this::work, "stoker-walk-" + i);
            thread.setDaemon(true);
            threads.add(thread);
        }
    }

    void start() {
        threads.forEach(Thread::start);
    }

    void submit(DirectorySplit directory) {
        directories.add(directory);
    }

    /** The next portion, or null if none is ready. */
    @Nullable
    Portion poll() throws IOException {
        Object result = results.poll();
        if (result instanceof Throwable failure) {
            if (failure instanceof UnreadableException unreadable) {
                throw unreadable;
            }
            throw new IOException("Listing failed: " + failure, failure);
        }
        return (Portion) result;
    }

    /** Completes when a portion may be ready. */
    CompletableFuture<Void> isAvailable() {
        synchronized (lock) {
            if (!results.isEmpty()) {
                available.complete(null);
            } else if (available.isDone()) {
                available = new CompletableFuture<>();
            }
            return available;
        }
    }

    /** Wakes the waiting reader even though nothing has been listed. */
    void wakeUp() {
        synchronized (lock) {
            available.complete(null);
        }
    }

    private void work() {
        try {
            while (!closed) {
                DirectorySplit directory = directories.take();
                Collector collector = new Collector(directory);
                lister.list(directory, collector);
                collector.finish();
            }
        } catch (InterruptedException | StoppedException e) {
            // Closed: the rest is not needed.
        } catch (Throwable failure) {
            try {
                put(failure);
            } catch (StoppedException e) {
                // Closed meanwhile.
            }
        }
    }

    private void put(Object result) {
        try {
            results.put(result);
        } catch (InterruptedException e) {
            throw new StoppedException();
        }
        wakeUp();
    }

    @Override
    public void close() {
        closed = true;
        threads.forEach(Thread::interrupt);
        for (Thread thread : threads) {
            try {
                // A listing in progress must not outlive the classes that it uses.
                thread.join(CLOSE_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
        try {
            lister.close();
        } catch (IOException e) {
            LOG.warn("The source was not closed: {}", e.toString());
        }
    }

    /** The pool was closed during a listing. */
    private static final class StoppedException extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    /** Cuts a listing into portions. */
    private final class Collector implements DirectoryLister.Visitor {

        private final DirectorySplit directory;
        private final List<DirectorySplit> found = new ArrayList<>();
        private List<File> files = new ArrayList<>();
        private SkipCounts skipped = new SkipCounts();

        Collector(DirectorySplit directory) {
            this.directory = directory;
        }

        @Override
        public void file(String name, long size, long modifiedMs, long[] sidecars) {
            files.add(new File(name, size, modifiedMs, sidecars));
            if (files.size() == PORTION) {
                handOn(null);
            }
        }

        @Override
        public void directory(DirectorySplit child) {
            found.add(child);
        }

        @Override
        public void skip(FileSkip reason, String path) {
            skipped.add(reason, path);
        }

        void finish() {
            handOn(new WalkEvent.Listed(directory.path(), found));
        }

        private void handOn(WalkEvent.@Nullable Listed end) {
            put(new Portion(directory, files, skipped, end));
            files = new ArrayList<>();
            skipped = new SkipCounts();
        }
    }
}
