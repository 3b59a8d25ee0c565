package dev.stoker.feeder.node.tiers;

import dev.stoker.feeder.node.chunks.ChunkBytes;
import dev.stoker.feeder.node.chunks.ChunkFile;
import dev.stoker.feeder.node.chunks.DirectMemory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * The one pool of direct memory: chunks that are in use, wanted, or kept by a memory tier without files.
 *
 * <p>What is kept has a quota of its own; everything else is working memory with a limit. When room is needed, chunks that nobody
 * holds or wants go first, longest unused first; for a reader that waits, then those wanted last. What is held stays, even
 * beyond the limit. Thread-safe; the lock guards maps and counts, never an allocation.
 */
final class ChunkMemory implements AutoCloseable {

    /** A chunk's bytes and their holds; fields are guarded by the pool's lock. */
    private final class Entry implements ChunkBytes {
        final UUID id;
        final ByteBuffer bytes;
        final boolean intact;
        int holds = 1;
        boolean kept;
        /** Whether a tier has it too, so that nothing is lost with it. */
        boolean elsewhere;

        boolean dropped;

        Entry(UUID id, ByteBuffer bytes, boolean intact) {
            this.id = id;
            this.bytes = bytes;
            this.intact = intact;
        }

        @Override
        public ByteBuffer bytes() {
            return bytes;
        }

        @Override
        public void close() {
            release(this);
        }
    }

    private final Runnable roomMade;
    private final Map<UUID, Entry> present = new HashMap<>();
    private final Map<UUID, Integer> wants = new HashMap<>();
    /** Neither held nor wanted nor kept, longest unused first. */
    private final LinkedHashMap<UUID, Entry> spent = new LinkedHashMap<>();
    /** Wanted, but neither held nor kept, in the order in which they came. */
    private final LinkedHashMap<UUID, Entry> ahead = new LinkedHashMap<>();

    private long limitBytes;
    /** Reserved, or of chunks that are not kept. */
    private long workingBytes;

    private long keptBytes;
    private boolean closed;

    /** @param roomMade called without the lock when {@link #reserve} may succeed that has failed before */
    ChunkMemory(long limitBytes, Runnable roomMade) {
        this.limitBytes = limitBytes;
        this.roomMade = roomMade;
    }

    /** Another limit of working memory. */
    synchronized void limit(long bytes) {
        limitBytes = bytes;
    }

    synchronized long limit() {
        return limitBytes;
    }

    /** Holds a chunk if it is here. */
    synchronized Optional<ChunkBytes> hold(UUID id) {
        Entry entry = present.get(id);
        if (entry == null) {
            return Optional.empty();
        }
        if (entry.holds++ == 0) {
            spent.remove(id);
            ahead.remove(id);
        }
        return Optional.of(entry);
    }

    /** One more hold for somebody who has none yet, on a chunk that the caller holds. */
    synchronized void holdAgain(ChunkBytes held) {
        ((Entry) held).holds++;
    }

    synchronized boolean has(UUID id) {
        return present.containsKey(id);
    }

    synchronized boolean isKept(UUID id) {
        Entry entry = present.get(id);
        return entry != null && entry.kept;
    }

    /** Whether a held chunk fits its checksum; what does not may be looked at, but not kept. */
    static boolean isIntact(ChunkBytes bytes) {
        return !(bytes instanceof Entry entry) || entry.intact;
    }

    /** The chunk will be needed. */
    synchronized void want(UUID id) {
        wants.merge(id, 1, Integer::sum);
        Entry entry = spent.remove(id);
        if (entry != null) {
            ahead.put(id, entry);
        }
    }

    /**
     * Takes back one {@link #want}.
     *
     * @return whether nobody wants the chunk any more
     */
    boolean unwant(UUID id) {
        synchronized (this) {
            Integer left = wants.computeIfPresent(id, (key, count) -> count == 1 ? null : count - 1);
            if (left != null) {
                return false;
            }
            Entry entry = ahead.remove(id);
            if (entry == null) {
                return true;
            }
            spent.put(id, entry);
        }
        roomMade.run();
        return true;
    }

    /** Whether there is much more than there should be, for the sake of readers that waited. */
    synchronized boolean isOverfull() {
        return workingBytes > limitBytes + limitBytes / 2;
    }

    /**
     * Takes room for a chunk that somebody may want some day.
     *
     * @return whether there is room
     */
    boolean reserve(long bytes) {
        List<Entry> victims = new ArrayList<>();
        boolean fits;
        synchronized (this) {
            evict(spent, bytes, victims);
            fits = workingBytes + bytes <= limitBytes;
            if (fits) {
                workingBytes += bytes;
            }
        }
        free(victims);
        return fits;
    }

    /** Takes room for a chunk that is waited for, even beyond the limit. */
    void reserveNow(long bytes) {
        List<Entry> victims = new ArrayList<>();
        synchronized (this) {
            evict(spent, bytes, victims);
            while (workingBytes + bytes > limitBytes && !ahead.isEmpty()) {
                Entry last = null;
                for (Entry entry : ahead.values()) {
                    last = entry;
                }
                ahead.remove(last.id);
                remove(last);
                victims.add(last);
            }
            workingBytes += bytes;
        }
        free(victims);
    }

    private void evict(LinkedHashMap<UUID, Entry> from, long bytes, List<Entry> victims) {
        for (Iterator<Entry> oldest = from.values().iterator();
                workingBytes + bytes > limitBytes && oldest.hasNext(); ) {
            Entry victim = oldest.next();
            oldest.remove();
            remove(victim);
            victims.add(victim);
        }
    }

    /** Gives room back that was taken. */
    void unreserve(long bytes) {
        synchronized (this) {
            workingBytes -= bytes;
        }
        roomMade.run();
    }

    /**
     * Adds a chunk that room was taken for, and holds it.
     *
     * @param bytes a buffer of its own, which the pool frees
     * @param intact whether it fits its checksum
     */
    ChunkBytes add(ChunkFile chunk, ByteBuffer bytes, boolean intact) {
        Entry entry = new Entry(chunk.id(), bytes, intact);
        Entry known;
        synchronized (this) {
            known = present.putIfAbsent(chunk.id(), entry);
            if (known != null) {
                // It is freed with its holds.
                entry.dropped = true;
            }
        }
        return entry;
    }

    /** Makes a chunk one that is kept; false if it is not here. */
    boolean keep(UUID id) {
        synchronized (this) {
            Entry entry = present.get(id);
            if (entry == null || entry.kept || closed) {
                return false;
            }
            entry.kept = true;
            spent.remove(id);
            ahead.remove(id);
            workingBytes -= entry.bytes.capacity();
            keptBytes += entry.bytes.capacity();
        }
        roomMade.run();
        return true;
    }

    /** Another tier has the chunk now: it goes with its last hold, and is found there from then on. */
    void isElsewhere(UUID id) {
        boolean unheld;
        synchronized (this) {
            Entry entry = present.get(id);
            if (entry == null || entry.kept) {
                return;
            }
            entry.elsewhere = true;
            unheld = entry.holds == 0;
        }
        if (unheld) {
            drop(id);
        }
    }

    /** Forgets a chunk; those who hold it keep what they have. */
    void drop(UUID id) {
        List<Entry> free = new ArrayList<>();
        synchronized (this) {
            Entry entry = present.get(id);
            if (entry == null) {
                return;
            }
            if (entry.kept) {
                entry.kept = false;
                keptBytes -= entry.bytes.capacity();
                workingBytes += entry.bytes.capacity();
            }
            present.remove(id);
            entry.dropped = true;
            if (entry.holds == 0) {
                spent.remove(id);
                ahead.remove(id);
                workingBytes -= entry.bytes.capacity();
                free.add(entry);
            }
        }
        free(free);
        roomMade.run();
    }

    private void release(Entry entry) {
        List<Entry> free = new ArrayList<>();
        boolean room = false;
        synchronized (this) {
            if (entry.holds < 1) {
                throw new IllegalStateException("chunk " + entry.id + " was released more often than held");
            }
            if (--entry.holds > 0) {
                return;
            }
            if (entry.dropped || entry.elsewhere || closed) {
                if (!entry.dropped) {
                    present.remove(entry.id);
                    entry.dropped = true;
                    keptBytes -= entry.kept ? entry.bytes.capacity() : 0;
                }
                workingBytes -= entry.kept ? 0 : entry.bytes.capacity();
                free.add(entry);
                room = true;
            } else if (!entry.kept) {
                (wants.containsKey(entry.id) ? ahead : spent).put(entry.id, entry);
                room = true;
                evict(spent, 0, free);
            }
        }
        free(free);
        if (room) {
            roomMade.run();
        }
    }

    private void remove(Entry entry) {
        present.remove(entry.id);
        entry.dropped = true;
        workingBytes -= entry.bytes.capacity();
    }

    private static void free(List<Entry> entries) {
        entries.forEach(entry -> DirectMemory.free(entry.bytes));
    }

    /** Bytes of what is in use or wanted, reservations included. */
    synchronized long workingBytes() {
        return workingBytes;
    }

    /** Bytes of what is kept. */
    synchronized long keptBytes() {
        return keptBytes;
    }

    /** Frees what is not held; what is held is freed with its last hold. */
    @Override
    public void close() {
        List<Entry> free = new ArrayList<>();
        synchronized (this) {
            closed = true;
            for (Entry entry : present.values()) {
                if (entry.holds == 0) {
                    free.add(entry);
                }
            }
            spent.clear();
            ahead.clear();
            free.forEach(entry -> {
                present.remove(entry.id);
                if (entry.kept) {
                    keptBytes -= entry.bytes.capacity();
                } else {
                    workingBytes -= entry.bytes.capacity();
                }
            });
        }
        free(free);
    }
}
