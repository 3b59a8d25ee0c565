package dev.stoker.server.tiers.files;

import dev.stoker.server.chunks.HeldChunks;
import dev.stoker.server.chunks.ListedChunk;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The chunks that a file tier has or expects, and the part of its quota that they use. The directory is the only
 * permanent record: existing files are listed at the start. Thread-safe; the monitor of this object is held to reserve
 * space and to make room.
 */
public final class FileCatalogue {
    private static final Logger LOG = LoggerFactory.getLogger(FileCatalogue.class);

    /** A chunk that is in the tier, or for which space is reserved. */
    public static final class Entry {
        public final long bytes;
        /** Whether the file was compared with the chunk table. Set under the monitor of the entry. */
        public boolean checked;

        Entry(long bytes, boolean checked) {
            this.bytes = bytes;
            this.checked = checked;
        }
    }

    private final String name;
    private final long limitBytes;
    private final ChunkSpace space;
    private final CacheFiles files;
    private final HeldChunks mappings;
    /**
     * Chunks of other feeds that have ended, which are removed if space is needed. Guarded by the monitor of this
     * object.
     */
    private final Deque<UUID> foreign = new ArrayDeque<>();

    private final Map<UUID, Entry> kept = new ConcurrentHashMap<>();
    /** Chunks for which space is reserved, and which are not in the tier yet. */
    private final Map<UUID, Entry> coming = new ConcurrentHashMap<>();

    private final AtomicLong usedBytes = new AtomicLong();

    /** @param name the name of the tier */
    public FileCatalogue(String name, long limitBytes, ChunkSpace space, CacheFiles files, HeldChunks mappings) {
        this.name = name;
        this.limitBytes = limitBytes;
        this.space = space;
        this.files = files;
        this.mappings = mappings;
    }

    /**
     * Takes over the files in the space. Called before any other method.
     *
     * @param ours chunks that the feed may need; in a shared space, other chunks are removed if space is needed
     */
    public void load(CacheLifetime lifetime, Set<UUID> ours) throws IOException {
        space.list().forEach((id, bytes) -> {
            kept.put(id, new Entry(bytes, false));
            usedBytes.addAndGet(bytes);
            if (lifetime == CacheLifetime.FEED || !ours.contains(id)) {
                foreign.add(id);
            }
        });
        makeRoom(0);
        if (lifetime == CacheLifetime.FEED) {
            // The space belongs to this feed alone, so only files beyond a smaller quota had to be removed.
            foreign.clear();
        }
    }

    public boolean has(UUID id) {
        return kept.containsKey(id);
    }

    /** Returns the entry of a chunk in the tier; null if the tier does not have it. */
    @Nullable
    public Entry get(UUID id) {
        return kept.get(id);
    }

    /** Notes that another process has placed a chunk. Returns its entry. */
    public Entry found(UUID id, long bytes) {
        Entry found = new Entry(bytes, false);
        Entry known = kept.putIfAbsent(id, found);
        // The chunk uses the space that was reserved for it.
        Entry reserved = coming.remove(id);
        usedBytes.addAndGet((known == null ? found.bytes : 0) - (reserved == null ? 0 : reserved.bytes));
        return known == null ? found : known;
    }

    /** Reserves space for a chunk, and makes room if necessary. Returns false if the tier has it or has no space. */
    public boolean reserve(ListedChunk chunk) {
        if (kept.containsKey(chunk.id())) {
            return false;
        }
        Entry reserved = new Entry(chunk.length(), true);
        synchronized (this) {
            makeRoom(reserved.bytes);
            if (usedBytes.get() + reserved.bytes > limitBytes || coming.putIfAbsent(chunk.id(), reserved) != null) {
                return false;
            }
            usedBytes.addAndGet(reserved.bytes);
            return true;
        }
    }

    /** Removes unneeded chunks until these bytes fit, unless other claims use the space. */
    private synchronized void makeRoom(long bytes) {
        try {
            while (usedBytes.get() + bytes > limitBytes && !foreign.isEmpty() && !space.isShared()) {
                remove(foreign.poll());
            }
        } catch (IOException e) {
            LOG.debug("Cannot make room in {}", name, e);
        }
    }

    /** Notes that the file of a chunk is visible. */
    public void placed(UUID id) {
        Entry placed = coming.remove(id);
        if (placed == null || kept.putIfAbsent(id, placed) != null) {
            usedBytes.addAndGet(placed == null ? 0 : -placed.bytes);
        }
    }

    /** Releases the space that was reserved for a chunk. */
    public void cancel(UUID id) {
        Entry reserved = coming.remove(id);
        usedBytes.addAndGet(reserved == null ? 0 : -reserved.bytes);
    }

    /** Removes a chunk, and deletes its file. */
    public void remove(UUID id) {
        Entry known = kept.remove(id);
        if (known == null) {
            return;
        }
        usedBytes.addAndGet(-known.bytes);
        Path file = space.path(id);
        mappings.forget(file);
        try {
            files.delete(file);
        } catch (IOException e) {
            LOG.debug("{} is not removed", file, e);
        }
    }

    /** Removes a chunk that was erased from its dataset, also if another process has placed its file. */
    public void erase(UUID id) {
        remove(id);
        Path file = space.path(id);
        try {
            files.delete(file);
        } catch (IOException e) {
            LOG.warn("{} was erased from its dataset, but was not removed; remove it by hand", file, e);
        }
    }

    /** Forgets the mappings of all chunks. */
    public void unmap() {
        kept.keySet().forEach(id -> mappings.forget(space.path(id)));
    }

    public long usedBytes() {
        return usedBytes.get();
    }

    public long limitBytes() {
        return limitBytes;
    }

    /** Returns the bytes that are not used; negative if the quota is exceeded. */
    public long freeBytes() {
        return limitBytes - usedBytes.get();
    }
}
