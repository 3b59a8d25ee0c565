package dev.stoker.feeder.ledger;

import dev.stoker.server.threads.Threads;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes ledger files to their store in order, and retries without a limit. A store that is slow or unavailable must
 * not block the task, because that would also stall trainers whose data is cached.
 *
 * <p>The task's thread submits files and queries the progress. A separate thread writes. The lock guards the queue.
 */
final class LedgerPublisher implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(LedgerPublisher.class);

    /** Limit of the memory for files that wait to be written. The task waits when it is exceeded. */
    private static final long MAX_WAITING_BYTES = 64L << 20;
    /** How long {@link #close} waits for a write in progress. */
    private static final Duration CLOSE = Duration.ofSeconds(5);

    /** The pauses between attempts to write. Each pause is twice as long as the previous one. */
    record Pauses(Duration first, Duration longest) {
        static final Pauses USUAL = new Pauses(Duration.ofMillis(100), Duration.ofSeconds(10));
    }

    /** Opens the ledger's store on the writing thread. */
    public interface Opener {
        ObjectStore open() throws IOException;
    }

    /** Leaves the permanent mark that the feed has delivered data of an epoch. Runs on the writing thread. */
    interface Sign {
        void leave(String file, long epoch) throws IOException;
    }

    /** An entry of the queue: a file, and the mark that is reached when the file is written. */
    private record Waiting(LedgerFile file, long mark) {}

    private final String where;
    private final Opener opener;
    private final Sign sign;
    private final Pauses pauses;
    private final Threads.Started thread;
    private final Lock lock;
    /** Signalled when a file was queued, when a file was written, and when the publisher stops. */
    private final Condition changed;

    private final Deque<Waiting> waiting = new ArrayDeque<>();
    private final LedgerProgress progress;
    private long waitingBytes;
    private long lastMark;
    private @Nullable IOException failure;
    private boolean closed;

    /**
     * @param where location of the ledger, for messages
     * @param opener opens the store of the ledger
     * @param sign leaves the mark of an epoch before the first receipts of the epoch become durable
     * @param progress is told the marks that were reached
     */
    LedgerPublisher(String where, Opener opener, Sign sign, LedgerProgress progress) {
        this(where, opener, sign, progress, Pauses.USUAL, Threads.system());
    }

    LedgerPublisher(String where, Opener opener, Sign sign, LedgerProgress progress, Pauses pauses, Threads threads) {
        this.where = where;
        this.sign = sign;
        this.opener = opener;
        this.progress = progress;
        this.pauses = pauses;
        this.lock = threads.lock();
        this.changed = lock.newCondition();
        this.thread = threads.start("stoker-ledger", this::work);
    }

    /**
     * Queues a file. Waits while the queue is full.
     *
     * @param file the file
     * @param mark the mark that is reached when this file and all earlier ones are written
     */
    void submit(LedgerFile file, long mark) throws InterruptedException {
        lock.lock();
        try {
            if (waitingBytes > MAX_WAITING_BYTES) {
                LOG.warn(
                        "The ledger {} cannot be written and {} bytes are waiting; the feed accepts no receipts until"
                                + " it can be written: {}; make it writable, or start the feed with --ledger"
                                + " <directory>",
                        where,
                        waitingBytes,
                        failure == null ? "the store does not answer" : failure.getMessage());
            }
            while (waitingBytes > MAX_WAITING_BYTES && !closed) {
                changed.await();
            }
            restore(file, mark);
        } finally {
            lock.unlock();
        }
    }

    /** Queues a file without waiting, because it is in memory already. */
    void restore(LedgerFile file, long mark) {
        lock.lock();
        try {
            waiting.add(new Waiting(file, mark));
            waitingBytes += file.bytes().length;
            lastMark = mark;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Notes that there was nothing to write up to this mark. */
    void reach(long mark) {
        lock.lock();
        try {
            lastMark = mark;
            if (waiting.isEmpty()) {
                progress.reached(mark);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Returns the files that may not be written yet, in order. */
    List<LedgerFile> unpublished() {
        lock.lock();
        try {
            List<LedgerFile> files = new ArrayList<>();
            waiting.forEach(next -> files.add(next.file()));
            return files;
        } finally {
            lock.unlock();
        }
    }

    /** Waits without a limit until everything is written. */
    void await() throws InterruptedException {
        lock.lock();
        try {
            while (!waiting.isEmpty()) {
                changed.await();
            }
        } finally {
            lock.unlock();
        }
    }

    private void work() {
        ObjectStore store = null;
        SignedEpochs signed = new SignedEpochs();
        Duration pause = pauses.first();
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
                    // If the name exists, an earlier attempt wrote the file, but its answer was lost or the task
                    // restarted.
                    store.createIfAbsent(next.file().name(), next.file().bytes());
                    Set<LedgerFile.Delivery> deliveries = next.file().deliveries();
                    OptionalLong epoch = signed.newest(deliveries);
                    if (epoch.isPresent()) {
                        sign.leave(next.file().name(), epoch.getAsLong());
                        signed.add(deliveries);
                    }
                    done();
                    pause = pauses.first();
                } catch (IOException | RuntimeException | Error e) {
                    // Errors are caught too, because checkpoints would otherwise wait for receipts that no thread
                    // writes.
                    failed(e, pause);
                    pause = pause.multipliedBy(2).compareTo(pauses.longest()) < 0
                            ? pause.multipliedBy(2)
                            : pauses.longest();
                }
            }
        } catch (InterruptedException e) {
            // The publisher was closed. Unwritten files are in the last checkpoint, or trainers repeat the receipts.
        } finally {
            close(store);
        }
    }

    private @Nullable Waiting next() throws InterruptedException {
        lock.lock();
        try {
            while (waiting.isEmpty() && !closed) {
                changed.await();
            }
            return closed ? null : waiting.peek();
        } finally {
            lock.unlock();
        }
    }

    private void done() {
        lock.lock();
        try {
            Waiting written = waiting.remove();
            waitingBytes -= written.file().bytes().length;
            if (failure != null) {
                LOG.info("The ledger {} can be written again", where);
                failure = null;
                progress.canWrite();
            }
            progress.reached(waiting.isEmpty() ? lastMark : written.mark());
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void failed(Throwable e, Duration pause) throws InterruptedException {
        lock.lock();
        try {
            if (failure == null) {
                LOG.warn("The ledger {} cannot be written; retrying until it succeeds: {}", where, e.toString());
            }
            failure = e instanceof IOException io ? io : new IOException(e.toString(), e);
            progress.cannotWrite("the ledger " + where + " cannot be written: " + e);
            long leftNanos = pause.toNanos();
            while (leftNanos > 0 && !closed) {
                leftNanos = changed.awaitNanos(leftNanos);
            }
        } finally {
            lock.unlock();
        }
    }

    private void close(@Nullable ObjectStore store) {
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
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        thread.interrupt();
        try {
            thread.join(CLOSE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
