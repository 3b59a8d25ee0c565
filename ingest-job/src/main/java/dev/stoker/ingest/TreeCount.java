package dev.stoker.ingest;

import dev.stoker.connectors.files.FileSkip;
import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.connectors.files.listing.DirectoryLister;
import dev.stoker.connectors.files.source.split.DirectorySplit;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

/** Counts all files of a tree, several directories at a time. Its threads share it; its lock is this. */
final class TreeCount {
    /** Waits for a store take longer than the work here. */
    private static final int REMOTE_THREADS = 16;

    private static final int LOCAL_THREADS = 4;

    private final NameCensus names;
    private final SkipCounts skipped = new SkipCounts();
    private final UnmatchedKeys keys;
    private final Deque<DirectorySplit> pending = new ArrayDeque<>(List.of(DirectorySplit.ROOT));
    private int working;
    private boolean isFailed;
    private long files;
    private long bytes;

    private TreeCount(FileTree tree, NameCensus names) {
        this.names = names;
        this.keys = new UnmatchedKeys(tree);
    }

    /** Counts the files of a tree, and adds their names. */
    static TreeCount of(FileTree tree, NameCensus names) throws IOException {
        TreeCount count = new TreeCount(tree, names);
        int threads = tree.isRemote() ? REMOTE_THREADS : LOCAL_THREADS;
        ExecutorService executor = Executors.newFixedThreadPool(threads, work -> {
            Thread thread = new Thread(work, "stoker-count");
            thread.setDaemon(true);
            return thread;
        });
        try (DirectoryLister lister = DirectoryLister.open(tree)) {
            List<Future<Void>> running = IntStream.range(0, threads)
                    .mapToObj(i -> executor.submit(() -> {
                        count.run(lister);
                        return (Void) null;
                    }))
                    .toList();
            for (Future<Void> thread : running) {
                thread.get();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while the source was listed");
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException failure) {
                throw failure;
            }
            throw new IllegalStateException(e.getCause());
        } finally {
            executor.shutdownNow();
        }
        return count;
    }

    private void run(DirectoryLister lister) throws IOException, InterruptedException {
        try {
            for (Optional<DirectorySplit> next = next(); next.isPresent(); next = next()) {
                Counter counter = new Counter(next.get());
                lister.list(next.get(), counter);
                counter.names.end();
                done();
            }
        } catch (IOException | RuntimeException e) {
            fail();
            throw e;
        }
    }

    /** Takes a directory; empty at the end. */
    private synchronized Optional<DirectorySplit> next() throws InterruptedException {
        while (pending.isEmpty() && working > 0 && !isFailed) {
            wait();
        }
        if (pending.isEmpty() || isFailed) {
            return Optional.empty();
        }
        working++;
        return Optional.of(pending.pop());
    }

    private synchronized void done() {
        working--;
        notifyAll();
    }

    private synchronized void fail() {
        isFailed = true;
        notifyAll();
    }

    private synchronized void add(DirectorySplit directory) {
        pending.push(directory);
        notifyAll();
    }

    private synchronized void count(String path, long size) {
        files++;
        bytes += size;
        keys.find(path, false);
    }

    private synchronized void skip(FileSkip reason, String path) {
        skipped.add(reason, path);
        keys.find(path, true);
    }

    synchronized long files() {
        return files;
    }

    synchronized long bytes() {
        return bytes;
    }

    /** Returns the counts of files that were left out. */
    synchronized SkipCounts skipped() {
        SkipCounts copy = new SkipCounts();
        copy.add(skipped);
        return copy;
    }

    /** Returns the keys that were given to be left out. */
    synchronized ExcludedKeys excludedKeys() {
        return keys.result();
    }

    /** Counts the files of one directory. For one thread. */
    private final class Counter implements DirectoryLister.Visitor {
        private final DirectorySplit directory;
        private final NameCensus.Directory names;

        Counter(DirectorySplit directory) {
            this.directory = directory;
            this.names = TreeCount.this.names.new Directory();
        }

        @Override
        public void file(String name, long size, long modifiedMs, long[] sidecars) {
            String path = directory.child(name);
            names.add(path);
            count(path, size);
        }

        @Override
        public void directory(DirectorySplit child) {
            add(child);
        }

        @Override
        public void skip(FileSkip reason, String path) {
            TreeCount.this.skip(reason, path);
        }
    }
}
