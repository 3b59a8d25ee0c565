package dev.stoker.feeder.ledger;

import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes ledger files to their store, one after the other, and tries again for as long as that takes: a store that answers
 * slowly or not at all must not hold up the task, or trainers whose data is cached would feel it.
 *
 * <p>The task's thread submits and asks; one thread of its own writes. The lock guards the queue.
 */
final class LedgerPublisher implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(LedgerPublisher.class);

    /** More than this waiting to be written means that the store is lost, not slow. */
    private static final long MAX_WAITING_BYTES = 64L << 20;
    /** How long closing waits for a write under way. */
    private static final long CLOSE_MS = 5_000;

    /** Opens the ledger's store, on the thread that writes. */
    interface Opener {
        ObjectStore open() throws IOException;
    }

    /** Leaves the lasting sign that the feed has delivered, on the thread that writes. */
    interface Sign {
        void leave(String file) throws IOException;
    }

    /** What is written: a file, and the mark that is reached with it. */
    private record Waiting(LedgerFile file, long mark) {}

    private final String where;
    private final Opener opener;
    private final Sign sign;
    private final Duration firstPause;
    private final Duration longestPause;
    private final Thread thread;
    private final Object lock = new Object();
    private final Deque<Waiting> waiting = new ArrayDeque<>();
    private final LedgerProgress progress;
    private long waitingBytes;
    private long lastMark;
    private IOException failure;
    private boolean closed;

    /**
     * @param where the ledger, for messages
     * @param opener opens its store
     * @param sign leaves the sign, before receipts are called durable
     * @param progress is told the marks that were reached
     */
    LedgerPublisher(String where, Opener opener, Sign sign, LedgerProgress progress) {
        this(where, opener, sign, progress, Duration.ofMillis(100), Duration.ofSeconds(10));
    }

    LedgerPublisher(
            String where,
            Opener opener,
            Sign sign,
            LedgerProgress progress,
            Duration firstPause,
            Duration longestPause) {
        this.where = where;
        this.sign = sign;
        this.opener = opener;
        this.progress = progress;
        this.firstPause = firstPause;
        this.longestPause = longestPause;
        thread = new Thread(this::work, "stoker-ledger");
        thread.setDaemon(true);
        thread.start();
    }

    /**
     * Writes a file soon.
     *
     * @param file the file
     * @param mark reached when it and all before it are written
     * @throws IOException if too much waits already
     */
    void submit(LedgerFile file, long mark) throws IOException {
        synchronized (lock) {
            if (waitingBytes > MAX_WAITING_BYTES) {
                throw new IOException(
                        "The ledger " + where + " cannot be written and " + waitingBytes + " bytes wait: "
                                + (failure == null ? "the store does not answer" : failure.getMessage())
                                + "; make it writable, or start the feed with --ledger <directory>",
                        failure);
            }
            waiting.add(new Waiting(file, mark));
            waitingBytes += file.bytes().length;
            lastMark = mark;
            lock.notifyAll();
        }
    }

    /** Nothing was to be written up to this mark. */
    void reach(long mark) {
        synchronized (lock) {
            lastMark = mark;
            if (waiting.isEmpty()) {
                progress.reached(mark);
            }
        }
    }

    /** What is not known to be written, in order. */
    List<LedgerFile> unpublished() {
        synchronized (lock) {
            List<LedgerFile> files = new ArrayList<>();
            waiting.forEach(next -> files.add(next.file()));
            return files;
        }
    }

    /**
     * Waits until everything is written.
     *
     * @throws IOException if it is not within the time
     */
    void await(Duration limit) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        synchronized (lock) {
            while (!waiting.isEmpty()) {
                long left = (deadline - System.nanoTime()) / 1_000_000;
                if (left <= 0) {
                    throw new IOException(
                            "The last receipts could not be written to the ledger " + where + " within "
                                    + limit.toSeconds() + " s: "
                                    + (failure == null ? "the store does not answer" : failure.getMessage()),
                            failure);
                }
                lock.wait(left);
            }
        }
    }

    private void work() {
        ObjectStore store = null;
        boolean isSigned = false;
        Duration pause = firstPause;
        try {
            while (true) {
                Waiting next = next();
                if (next == null) {
                    return;
                }
                try {
                    if (store == null) {
                        store = opener.open();
                    }
                    // Taken means: written by an attempt whose answer was lost, or before a restart.
                    store.createIfAbsent(next.file().name(), next.file().bytes());
                    if (!isSigned && next.file().hasReceipts()) {
                        sign.leave(next.file().name());
                        isSigned = true;
                    }
                    done();
                    pause = firstPause;
                } catch (IOException | RuntimeException e) {
                    failed(e, pause);
                    pause = pause.multipliedBy(2).compareTo(longestPause) < 0 ? pause.multipliedBy(2) : longestPause;
                }
            }
        } catch (InterruptedException e) {
            // Closed: what is not written is in the last checkpoint, or its receipts come again.
        } finally {
            close(store);
        }
    }

    private Waiting next() throws InterruptedException {
        synchronized (lock) {
            while (waiting.isEmpty() && !closed) {
                lock.wait();
            }
            return closed ? null : waiting.peek();
        }
    }

    private void done() {
        synchronized (lock) {
            Waiting written = waiting.remove();
            waitingBytes -= written.file().bytes().length;
            if (failure != null) {
                LOG.info("The ledger {} can be written again", where);
                failure = null;
            }
            progress.reached(waiting.isEmpty() ? lastMark : written.mark());
            lock.notifyAll();
        }
    }

    private void failed(Exception e, Duration pause) throws InterruptedException {
        synchronized (lock) {
            if (failure == null) {
                LOG.warn("The ledger {} cannot be written; trying again until it can: {}", where, e.toString());
            }
            failure = e instanceof IOException io ? io : new IOException(e.toString(), e);
            long deadline = System.nanoTime() + pause.toNanos();
            for (long left = pause.toMillis(); left > 0 && !closed; left = (deadline - System.nanoTime()) / 1_000_000) {
                lock.wait(left);
            }
        }
    }

    private void close(ObjectStore store) {
        try {
            if (store != null) {
                store.close();
            }
        } catch (IOException e) {
            LOG.warn("The store of the ledger {} was not closed: {}", where, e.toString());
        }
    }

    @Override
    public void close() {
        synchronized (lock) {
            closed = true;
            lock.notifyAll();
        }
        thread.interrupt();
        try {
            thread.join(CLOSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
