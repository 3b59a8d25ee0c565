package dev.stoker.server.tiers;

import dev.stoker.server.chunks.ChunkBytes;
import dev.stoker.server.chunks.ListedChunk;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The queue of chunks to load from origins. Each chunk is loaded once, regardless of the number of requests. Chunks
 * that a reader waits for are first. Chunks that will be needed follow in the order of their requests, while there is
 * memory for them. Chunks that are only placed in a tier are last. Separate threads do the work. Thread-safe; a thread
 * that has its lock may take the lock of {@link ChunkMemory}, but never in the opposite order.
 */
final class Loads implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Loads.class);

    /** Does the work of one load, in one of the threads. */
    interface Bringer {
        /**
         * Loads a chunk for which room was reserved. Uses or releases that room.
         *
         * @return the chunk's bytes, or empty if a tier has it, or if it was only needed in a tier and no tier has room
         */
        Optional<ChunkBytes> bring(Origin origin, ListedChunk chunk, Load.Need need) throws IOException;

        /** Called when the chunk is loaded and the waiting readers have been told. */
        void brought(ListedChunk chunk, ChunkBytes bytes);
    }

    private final ChunkMemory memory;
    private final Bringer bringer;
    private final Bandwidth bandwidth;
    private final int threads;
    private final ThreadFactory threadFactory;
    private final Map<UUID, Load> loads = new HashMap<>();
    private final TreeSet<Load> queue = new TreeSet<>();
    private final List<Thread> running = new ArrayList<>();
    private long sequence;
    private int idle;
    private boolean closed;
    /** Whether a thread waits for memory. */
    private volatile boolean blocked;

    Loads(ChunkMemory memory, Bringer bringer, Bandwidth bandwidth, int threads) {
        this(memory, bringer, bandwidth, threads, Thread::new);
    }

    Loads(ChunkMemory memory, Bringer bringer, Bandwidth bandwidth, int threads, ThreadFactory threadFactory) {
        this.threadFactory = threadFactory;
        this.memory = memory;
        this.bringer = bringer;
        this.bandwidth = bandwidth;
        this.threads = threads;
    }

    /**
     * OriginWaits for a chunk.
     *
     * @return a hold on its bytes, or empty if a tier has it now
     * @throws IOException if it cannot be loaded
     */
    Optional<ChunkBytes> await(Origin origin, ListedChunk chunk) throws IOException {
        Load load;
        synchronized (this) {
            // It may have been loaded since the caller checked.
            Optional<ChunkBytes> here = memory.hold(chunk.id());
            if (here.isPresent()) {
                return here;
            }
            load = enter(origin, chunk, Load.Need.NOW, sequence++);
            load.waiting++;
        }
        try {
            return OriginWaits.get(load.done);
        } catch (InterruptedIOException e) {
            CompletableFuture<Void> unused =
                    load.done.thenAccept(bytes -> Optional.ofNullable(bytes).ifPresent(ChunkBytes::close));
            throw e;
        }
    }

    /** Queues a chunk that will be needed. */
    synchronized void enqueue(Origin origin, ListedChunk chunk) {
        enter(origin, chunk, Load.Need.AHEAD, sequence++);
    }

    /** Queues a chunk that nobody has requested, after all other loads and after those with a smaller turn. */
    synchronized void warm(Origin origin, ListedChunk chunk, long turn) {
        enter(origin, chunk, Load.Need.WARM, turn).warm = true;
    }

    /** Cancels a load ahead of use, if it has not started. */
    synchronized void cancel(UUID chunk) {
        Load load = loads.get(chunk);
        if (load != null && !load.started && load.waiting == 0) {
            queue.remove(load);
            if (load.warm) {
                load.need = Load.Need.WARM;
                queue.add(load);
            } else {
                loads.remove(chunk);
            }
        }
    }

    private Load enter(Origin origin, ListedChunk chunk, Load.Need need, long turn) {
        Load load = loads.get(chunk.id());
        if (load == null) {
            load = new Load(origin, chunk, need, turn);
            if (closed) {
                load.done.completeExceptionally(
                        new IOException(chunk + " cannot be read: the feeder is" + " shutting down"));
                return load;
            }
            loads.put(chunk.id(), load);
            queue.add(load);
        } else if (!load.started && need.compareTo(load.need) < 0) {
            queue.remove(load);
            load.need = need;
            load.turn = turn;
            queue.add(load);
        } else {
            return load;
        }
        // Idle threads may not have noticed recent entries yet.
        if (idle < queue.size() && running.size() < threads) {
            startThread();
        }
        notifyAll();
        return load;
    }

    /**
     * Starts one more thread. If that fails and there is no other thread, waiting loads fail instead of waiting for
     * ever.
     */
    private void startThread() {
        try {
            Thread thread = threadFactory.newThread(this::run);
            thread.setName("stoker-origin-" + running.size());
            thread.setDaemon(true);
            thread.start();
            running.add(thread);
        } catch (OutOfMemoryError e) {
            if (running.isEmpty()) {
                queue.forEach(load -> {
                    loads.remove(load.chunk.id());
                    load.done.completeExceptionally(new IOException(
                            load.chunk + " cannot be read: the process may have no" + " more threads (" + e.getMessage()
                                    + ")",
                            e));
                });
                queue.clear();
            }
        }
    }

    /** Returns the number of readers that wait for a chunk. */
    synchronized int waiting(UUID chunk) {
        Load load = loads.get(chunk);
        return load == null ? 0 : load.waiting;
    }

    /** Returns the number of idle threads. */
    synchronized int idle() {
        return idle;
    }

    /** Called when there may be room for wanted chunks. */
    void roomMade() {
        if (blocked) {
            synchronized (this) {
                notifyAll();
            }
        }
    }

    private void run() {
        while (true) {
            Load load;
            try {
                load = take();
            } catch (InterruptedException e) {
                return;
            }
            if (load == null) {
                return;
            }
            bring(load);
        }
    }

    private synchronized @Nullable Load take() throws InterruptedException {
        idle++;
        try {
            while (!closed) {
                Load next = queue.isEmpty() ? null : queue.first();
                long waitNanos = next == null ? 0 : bandwidth.waitNanos();
                if (next != null && waitNanos == 0 && hasRoom(next)) {
                    queue.remove(next);
                    next.started = true;
                    bandwidth.spend(next.chunk.length());
                    return next;
                }
                if (waitNanos > 0) {
                    TimeUnit.NANOSECONDS.timedWait(this, waitNanos);
                } else {
                    wait();
                }
            }
            return null;
        } finally {
            idle--;
        }
    }

    private boolean hasRoom(Load next) {
        if (next.need == Load.Need.NOW) {
            memory.reserveNow(next.chunk.length());
            return true;
        }
        // Set before the check, so that room that is made meanwhile is noticed.
        blocked = true;
        boolean fits = memory.reserve(next.chunk.length());
        blocked = !fits;
        return fits;
    }

    private void bring(Load load) {
        ChunkBytes bytes = null;
        Throwable failure = null;
        try {
            bytes = bringer.bring(load.origin, load.chunk, load.need).orElse(null);
        } catch (IOException | RuntimeException | Error e) {
            failure = e;
        }
        synchronized (this) {
            loads.remove(load.chunk.id());
            for (int i = 0; bytes != null && i < load.waiting; i++) {
                memory.holdAgain(bytes);
            }
        }
        if (failure == null) {
            load.done.complete(bytes);
        } else {
            if (load.waiting == 0) {
                LOG.debug("Cannot prefetch {}", load.chunk, failure);
            }
            load.done.completeExceptionally(failure);
        }
        if (bytes != null) {
            try (ChunkBytes held = bytes) {
                bringer.brought(load.chunk, held);
            }
        }
    }

    /** Ends the threads. Waiting readers get an error. */
    @Override
    public void close() {
        List<Load> left;
        synchronized (this) {
            closed = true;
            left = new ArrayList<>(queue);
            queue.clear();
            left.forEach(load -> loads.remove(load.chunk.id()));
            running.forEach(Thread::interrupt);
            notifyAll();
        }
        left.forEach(load -> load.done.completeExceptionally(
                new IOException(load.chunk + " cannot be read: the feeder is shutting" + " down")));
    }
}
