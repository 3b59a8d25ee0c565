package dev.stoker.server.tiers;

import dev.stoker.server.chunks.ChunkBytes;
import dev.stoker.server.chunks.DirectMemory;
import dev.stoker.server.chunks.ListedChunk;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * The single pool of direct memory, for chunks that are in use, wanted, or kept by a memory tier without files.
 *
 * <p>Kept chunks have a separate quota. All others are working memory, which has a limit. If room is needed, the pool
 * first frees chunks without holds that nobody wants, longest unused first. For a waiting reader, it then frees the
 * chunk that is needed last: chunks that are only wanted before chunks in use, and the latest announcement first. The
 * order of the announcements is the order of need, however often a chunk was held since. Held chunks stay, even beyond
 * the limit. Thread-safe; the lock guards maps and counts, and no thread holds it during an allocation.
 */
final class ChunkMemory implements AutoCloseable {

    /** A chunk's bytes and the number of their holds. The pool's lock guards the fields. */
    private final class Entry implements ChunkBytes {
        final UUID id;
        final ByteBuffer bytes;
        final boolean intact;
        int holds = 1;
        boolean kept;
        /** Whether a tier has the chunk too, so that freeing it loses nothing. */
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

    /** The announcements of one chunk that are not reverted. The pool's lock guards the fields. */
    private static final class Want {
        int count;
        /** Among wanted chunks, the one with the greatest turn is needed last. */
        long turn = Long.MAX_VALUE;
    }

    /** The first turn of chunks that are only wanted. Turns of chunks in use are smaller. */
    private static final long ONLY_WANTED = Long.MAX_VALUE / 2;

    private final Runnable roomMade;
    private final Map<UUID, Entry> present = new HashMap<>();
    private final Map<UUID, Want> wants = new HashMap<>();
    /** Chunks that are not held, wanted or kept, longest unused first. */
    private final LinkedHashMap<UUID, Entry> spent = new LinkedHashMap<>();
    /** Chunks that are wanted, but not held or kept. */
    private final Map<UUID, Entry> ahead = new HashMap<>();

    private long announcements;

    private long limitBytes;
    /** Bytes that are reserved, or belong to chunks that are not kept. */
    private long workingBytes;

    private long keptBytes;
    private boolean closed;

    /** @param roomMade called without the lock when a {@link #reserve} that failed before may succeed */
    ChunkMemory(long limitBytes, Runnable roomMade) {
        this.limitBytes = limitBytes;
        this.roomMade = roomMade;
    }

    /** Changes the limit of working memory. */
    synchronized void limit(long bytes) {
        limitBytes = bytes;
    }

    synchronized long limit() {
        return limitBytes;
    }

    /** Holds a chunk if it is in the pool. */
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

    /** Adds a hold for another user to a chunk that the caller holds. */
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

    /** Returns whether a held chunk has the right checksum. A damaged chunk may be inspected, but not kept. */
    static boolean isIntact(ChunkBytes bytes) {
        return !(bytes instanceof Entry entry) || entry.intact;
    }

    /** Announces that the chunk will be needed after all chunks that were wanted before it. */
    synchronized void want(UUID id) {
        want(id, ONLY_WANTED + announcements++);
    }

    /** Announces that the chunk is needed before all chunks that are only wanted. */
    synchronized void use(UUID id) {
        want(id, announcements++);
    }

    private void want(UUID id, long turn) {
        Want want = wants.computeIfAbsent(id, key -> new Want());
        want.count++;
        want.turn = Math.min(want.turn, turn);
        Entry entry = spent.remove(id);
        if (entry != null) {
            ahead.put(id, entry);
        }
    }

    /**
     * Reverts one {@link #want} or {@link #use}.
     *
     * @return whether nobody wants the chunk any more
     */
    boolean unwant(UUID id) {
        synchronized (this) {
            Want want = wants.get(id);
            if (want != null && --want.count > 0) {
                return false;
            }
            wants.remove(id);
            Entry entry = ahead.remove(id);
            if (entry == null) {
                return true;
            }
            spent.put(id, entry);
        }
        roomMade.run();
        return true;
    }

    /** Returns whether the pool is far beyond its limit because readers waited. */
    synchronized boolean isOverfull() {
        return workingBytes > limitBytes + limitBytes / 2;
    }

    /**
     * Reserves room for a chunk that may be needed later.
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

    /** Reserves room for a chunk that a reader waits for, even beyond the limit. */
    void reserveNow(long bytes) {
        List<Entry> victims = new ArrayList<>();
        synchronized (this) {
            evict(spent, bytes, victims);
            while (workingBytes + bytes > limitBytes && !ahead.isEmpty()) {
                Entry last = Collections.max(ahead.values(), Comparator.comparingLong(entry -> turn(entry.id)));
                ahead.remove(last.id);
                remove(last);
                victims.add(last);
            }
            workingBytes += bytes;
        }
        free(victims);
    }

    private long turn(UUID id) {
        Want want = wants.get(id);
        return want == null ? Long.MAX_VALUE : want.turn;
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

    /** Releases reserved room. */
    void unreserve(long bytes) {
        synchronized (this) {
            workingBytes -= bytes;
        }
        roomMade.run();
    }

    /**
     * Adds a chunk for which room was reserved, and holds it.
     *
     * @param bytes a buffer that is neither a slice nor a duplicate; the pool frees it
     * @param intact whether it has the right checksum
     */
    ChunkBytes add(ListedChunk chunk, ByteBuffer bytes, boolean intact) {
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

    /** Marks a chunk as kept. Returns false if it is not in the pool. */
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

    /** Notes that another tier has the chunk now. The pool frees it with its last hold. */
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

    /** Removes a chunk. Existing holds keep their bytes. */
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

    /** Returns the bytes of chunks that are in use or wanted, including reservations. */
    synchronized long workingBytes() {
        return workingBytes;
    }

    /** Returns the bytes of kept chunks. */
    synchronized long keptBytes() {
        return keptBytes;
    }

    /** Frees all chunks without holds. The other chunks are freed with their last hold. */
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
