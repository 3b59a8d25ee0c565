package dev.stoker.server.tiers;

import dev.stoker.server.chunks.ChunkBytes;
import dev.stoker.server.chunks.ListedChunk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileLock;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tiers in the order in which they are filled. A chunk goes into the first tier with room. If placing it takes
 * time, a thread of the tier does it, and no reader waits. A chunk that could not be placed is offered again on its
 * next use. Thread-safe.
 */
final class Placement implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Placement.class);

    private static final long CLOSE_SECONDS = 10;

    private final ChunkMemory memory;
    private final List<Tier> tiers;
    private final List<ExecutorService> threads = new ArrayList<>();
    /** Chunks that were not placed because readers waited for memory. They may still be in memory. */
    private final Set<UUID> putOff = ConcurrentHashMap.newKeySet();

    Placement(ChunkMemory memory, List<Tier> tiers) {
        this.memory = memory;
        this.tiers = List.copyOf(tiers);
        for (Tier tier : tiers) {
            threads.add(tier.isInstant() ? null : Executors.newSingleThreadExecutor(Placement::thread));
        }
    }

    private static Thread thread(Runnable task) {
        Thread thread = new Thread(task, "stoker-placement");
        thread.setDaemon(true);
        return thread;
    }

    /** Returns whether a tier has the chunk, checked or known to be good. */
    boolean has(ListedChunk chunk) {
        for (Tier tier : tiers) {
            if (tier.has(chunk)) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether a tier has the chunk, and checks a chunk that is found there. */
    boolean find(ListedChunk chunk) {
        Optional<ChunkBytes> found = hold(chunk);
        found.ifPresent(ChunkBytes::close);
        return found.isPresent();
    }

    /** Drops erased chunks from all tiers. */
    void erase(Set<UUID> chunks) {
        tiers.forEach(tier -> tier.erase(chunks));
    }

    Optional<ChunkBytes> hold(ListedChunk chunk) {
        for (Tier tier : tiers) {
            if (tier.mayHave(chunk)) {
                Optional<ChunkBytes> held = tier.hold(chunk);
                if (held.isPresent()) {
                    return held;
                }
            }
        }
        return Optional.empty();
    }

    boolean read(ListedChunk chunk, long offset, ByteBuffer target) {
        int start = target.position();
        for (Tier tier : tiers) {
            if (tier.mayHave(chunk) && tier.read(chunk, offset, target.position(start))) {
                return true;
            }
        }
        target.position(start);
        return false;
    }

    /** Returns the bytes of chunks that tiers can still accept without using working memory. */
    long roomToReceive() {
        return tiers.stream().mapToLong(Tier::roomToReceive).sum();
    }

    /** Reserves space for a chunk in the first tier that has some. */
    Optional<Slot> reserve(ListedChunk chunk) {
        putOff.remove(chunk.id());
        for (int i = 0; i < tiers.size(); i++) {
            Tier tier = tiers.get(i);
            if (tier.reserve(chunk)) {
                return Optional.of(new Slot(tier, threads.get(i), chunk, tier.lock(chunk)));
            }
        }
        return Optional.empty();
    }

    /**
     * Offers a chunk in memory that is in use. If its placement was postponed, a thread of a tier places it now.
     *
     * @param bytes held by the caller
     */
    void offer(ListedChunk chunk, ChunkBytes bytes) {
        if (!putOff.contains(chunk.id()) || memory.isOverfull() || !putOff.remove(chunk.id())) {
            return;
        }
        threads.stream()
                .filter(Objects::nonNull)
                .findFirst()
                .ifPresent(thread -> execute(thread, bytes, () -> {
                    Optional<Slot> slot = has(chunk) ? Optional.empty() : reserve(chunk);
                    if (slot.isPresent() && slot.get().isShared() && find(chunk)) {
                        slot.get().cancel();
                    } else {
                        slot.ifPresent(taken -> taken.fill(bytes));
                    }
                }));
    }

    /** Holds a chunk while a thread works on it. Returns false if the thread has ended. */
    private boolean execute(ExecutorService thread, ChunkBytes bytes, Runnable work) {
        memory.holdAgain(bytes);
        try {
            thread.execute(() -> {
                try (bytes) {
                    work.run();
                }
            });
            return true;
        } catch (RejectedExecutionException | OutOfMemoryError e) {
            // The error occurs if the process can start no more threads; the chunk stays where it is.
            bytes.close();
            return false;
        }
    }

    /** Space for one chunk in one tier, which is used or released once. */
    final class Slot {
        private final Tier tier;
        private final ExecutorService thread;
        private final ListedChunk chunk;
        private final Optional<FileLock> lock;
        /** Whether the space was released or used by an arrival. Owned by the thread that loads the chunk. */
        private boolean over;

        Slot(Tier tier, ExecutorService thread, ListedChunk chunk, Optional<FileLock> lock) {
            this.tier = tier;
            this.thread = thread;
            this.chunk = chunk;
            this.lock = lock;
        }

        /** Returns whether other processes may have loaded the chunk while this one waited. */
        boolean isShared() {
            return lock.isPresent();
        }

        /** Places the chunk, in a thread of the tier if that takes time. The caller does not wait for it. */
        void fill(ChunkBytes bytes) {
            if (over) {
                return;
            }
            if (!ChunkMemory.isIntact(bytes)) {
                cancel();
            } else if (thread == null) {
                place(bytes);
            } else if (memory.isOverfull()) {
                // A write to a tier must not withhold memory from a waiting reader.
                cancel();
                putOff.add(chunk.id());
            } else if (!execute(thread, bytes, () -> place(bytes))) {
                cancel();
            }
        }

        /** Starts the chunk in its place, if the tier accepts it in parts. */
        Optional<Arrival> receive() {
            try {
                return tier.receive(chunk);
            } catch (IOException e) {
                notPlaced(e);
                cancel();
                return Optional.empty();
            }
        }

        /**
         * Keeps a chunk that has arrived.
         *
         * @return whether the tier has it now; if not, the space is released
         */
        boolean keep(Arrival arrival) {
            try {
                arrival.keep();
                over = true;
                release();
                return true;
            } catch (IOException e) {
                notPlaced(e);
                cancel();
                return false;
            }
        }

        private void notPlaced(IOException why) {
            LOG.debug("{} is not placed in {}", chunk, tier.status().name(), why);
        }

        private void place(ChunkBytes bytes) {
            try {
                tier.place(chunk, bytes);
                if (tier.hasFiles()) {
                    memory.isElsewhere(chunk.id());
                }
            } catch (IOException e) {
                notPlaced(e);
            } finally {
                release();
            }
        }

        /** Releases the space, unless it was released or used already. */
        void cancel() {
            if (!over) {
                over = true;
                tier.cancel(chunk);
                release();
            }
        }

        private void release() {
            if (lock.isPresent()) {
                try {
                    lock.get().release();
                } catch (IOException e) {
                    LOG.debug("A lock for {} is gone already", chunk, e);
                }
            }
        }
    }

    /** Counts a requested chunk that was in a tier. */
    void countHit(ListedChunk chunk) {
        for (Tier tier : tiers) {
            if (tier.mayHave(chunk)) {
                tier.use().hits.increment();
                return;
            }
        }
    }

    /** Counts a chunk that was loaded from an origin. */
    void countMiss() {
        tiers.forEach(tier -> tier.use().misses.increment());
    }

    boolean hasFiles() {
        return tiers.stream().anyMatch(Tier::hasFiles);
    }

    void forget(ListedChunk chunk) {
        tiers.forEach(tier -> tier.forget(chunk));
    }

    List<TierStatus> status() {
        return tiers.stream().map(Tier::status).toList();
    }

    @Override
    public void close() {
        List<ExecutorService> working =
                threads.stream().filter(thread -> thread != null).toList();
        working.forEach(ExecutorService::shutdownNow);
        for (ExecutorService thread : working) {
            try {
                thread.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        tiers.forEach(Tier::close);
    }
}
