package dev.stoker.server.tiers;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.server.chunks.ChunkBytes;
import dev.stoker.server.chunks.HeldChunks;
import dev.stoker.server.chunks.ListedChunk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileLock;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps chunks as files, on a local disk or in memory, and maps them. Its catalogue is the directory: existing files
 * are listed at the start. If other feeds place chunks too, files are also found on request. Every file is checked
 * before its first use. Files become visible as a whole, and are deleted, but never changed. Thread-safe.
 */
final class FileTier implements Tier {
    private static final Logger LOG = LoggerFactory.getLogger(FileTier.class);
    private static final long CLOSE_SECONDS = 10;

    /** A chunk that is in the tier, or for which space is reserved. */
    private static final class Kept {
        final long bytes;
        boolean checked;

        Kept(long bytes, boolean checked) {
            this.bytes = bytes;
            this.checked = checked;
        }
    }

    private final String name;
    private final long limitBytes;
    private final CacheLifetime lifetime;
    private final CacheFiles files;
    private final HeldChunks mappings;
    private final ChunkSpace space;
    /**
     * Chunks of other feeds that have ended, which are removed if space is needed. Guarded by the monitor of this
     * object.
     */
    private final Deque<UUID> foreign = new ArrayDeque<>();

    private final TierUse use = new TierUse();
    private final FileFaults faults;
    private final Map<UUID, Kept> kept = new ConcurrentHashMap<>();
    /** Chunks for which space is reserved, and which are not in the tier yet. */
    private final Map<UUID, Kept> coming = new ConcurrentHashMap<>();

    private final AtomicLong usedBytes = new AtomicLong();
    /** Held for reading while a chunk is written. */
    private final ReentrantReadWriteLock writing = new ReentrantReadWriteLock();

    private volatile boolean closed;

    /**
     * Takes over the files in a space.
     *
     * @param ours chunks that the feed may need; in a shared space, other chunks are removed if space is needed
     */
    FileTier(
            String name,
            long limitBytes,
            CacheLifetime lifetime,
            ChunkSpace space,
            CacheFiles files,
            HeldChunks mappings,
            Set<UUID> ours)
            throws IOException {
        this.name = name;
        this.limitBytes = limitBytes;
        this.lifetime = lifetime;
        this.space = space;
        this.files = files;
        this.mappings = mappings;
        this.faults = new FileFaults(name, space.isMemory() ? "the machine's shared memory" : "the disk", use);
        if (!space.isShared()) {
            space.removeUnfinished();
        }
        space.list().forEach((id, bytes) -> {
            kept.put(id, new Kept(bytes, false));
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

    @Override
    public boolean has(ListedChunk chunk) {
        Kept known = kept.get(chunk.id());
        return known != null && known.checked && !faults.isUnreadable();
    }

    @Override
    public boolean mayHave(ListedChunk chunk) {
        return !faults.isUnreadable() && (lifetime == CacheLifetime.NODE || kept.containsKey(chunk.id()));
    }

    @Override
    public Optional<ChunkBytes> hold(ListedChunk chunk) {
        if (!isHere(chunk)) {
            return Optional.empty();
        }
        try {
            ChunkBytes held = mappings.map(space.path(chunk.id()), chunk.length());
            faults.hasRead();
            return Optional.of(held);
        } catch (IOException e) {
            lost(chunk, e);
            return Optional.empty();
        }
    }

    @Override
    public boolean read(ListedChunk chunk, long offset, ByteBuffer target) {
        if (!isHere(chunk)) {
            return false;
        }
        try {
            files.read(space.path(chunk.id()), offset, target);
            faults.hasRead();
            return true;
        } catch (IOException e) {
            lost(chunk, e);
            return false;
        }
    }

    /** Returns whether a chunk is in the tier and has been checked. Checks it now if necessary. */
    private boolean isHere(ListedChunk chunk) {
        Kept known = faults.isUnreadable() ? null : kept.get(chunk.id());
        if (known == null) {
            known = find(chunk);
        }
        if (known == null) {
            return false;
        }
        synchronized (known) {
            if (!known.checked && kept.get(chunk.id()) == known) {
                long began = System.nanoTime();
                try {
                    files.check(space.path(chunk.id()), chunk);
                    known.checked = true;
                    use.loads.increment();
                } catch (IOException e) {
                    lost(chunk, e);
                } finally {
                    use.loadNanos.add(System.nanoTime() - began);
                }
            }
            return known.checked;
        }
    }

    /** Finds a chunk that another process has placed since the last look. */
    private @Nullable Kept find(ListedChunk chunk) {
        if (lifetime != CacheLifetime.NODE || faults.isUnreadable()) {
            return null;
        }
        try {
            Kept found = new Kept(files.length(space.path(chunk.id())), false);
            Kept known = kept.putIfAbsent(chunk.id(), found);
            // The chunk uses the space that was reserved for it.
            Kept reserved = coming.remove(chunk.id());
            usedBytes.addAndGet((known == null ? found.bytes : 0) - (reserved == null ? 0 : reserved.bytes));
            return known == null ? found : known;
        } catch (NoSuchFileException e) {
            return null;
        } catch (IOException e) {
            faults.readFailed(e);
            return null;
        }
    }

    /** Handles a chunk in the tier that turned out to be unusable. */
    private void lost(ListedChunk chunk, IOException why) {
        forget(chunk);
        if (why instanceof CorruptDataException) {
            use.failures.increment();
            LOG.warn("A cached chunk is damaged; it is removed and read from its origin: {}", why.getMessage());
        } else {
            faults.readFailed(why);
        }
    }

    @Override
    public boolean reserve(ListedChunk chunk) {
        if (faults.isOff() || kept.containsKey(chunk.id())) {
            return false;
        }
        Kept reserved = new Kept(chunk.length(), true);
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

    @Override
    public Optional<FileLock> lock(ListedChunk chunk) {
        if (lifetime != CacheLifetime.NODE) {
            return Optional.empty();
        }
        try {
            return Optional.of(space.lockLoad(chunk.id()));
        } catch (IOException e) {
            LOG.debug("Loading {}, although another process may also load it", chunk, e);
            return Optional.empty();
        }
    }

    @Override
    public void place(ListedChunk chunk, ChunkBytes bytes) throws IOException {
        write(chunk, () -> {
            try (FileArrival arrival = new FileArrival(this, chunk)) {
                arrival.write(0, bytes.bytes().duplicate().clear());
                arrival.keep();
            }
        });
    }

    /** Returns empty for a disk, which may be slow or hang: a reader of an origin does not wait for it. */
    @Override
    public Optional<Arrival> receive(ListedChunk chunk) throws IOException {
        return space.isMemory() ? Optional.of(new FileArrival(this, chunk)) : Optional.empty();
    }

    @Override
    public long roomToReceive() {
        return space.isMemory() && !faults.isOff() ? Math.max(0, limitBytes - usedBytes.get()) : 0;
    }

    /** A step of placing a chunk. */
    interface Step {
        void run() throws IOException;
    }

    /** A step with a result. */
    private interface Creation<T> {
        T run() throws IOException;
    }

    /** Creates the file of a chunk, as a step of placing it. */
    CacheFiles.Unfinished create(ListedChunk chunk) throws IOException {
        return placing(chunk, () -> files.create(space.path(chunk.id())));
    }

    /** Runs a step of placing a chunk, or several steps as one. */
    void write(ListedChunk chunk, Step step) throws IOException {
        placing(chunk, () -> {
            step.run();
            return chunk;
        });
    }

    /** Closing the tier waits for the step. If it fails, the space of the chunk is released. */
    private <T> T placing(ListedChunk chunk, Creation<T> step) throws IOException {
        boolean isWithin = writing.getReadHoldCount() > 0;
        writing.readLock().lock();
        try {
            if (closed && !isWithin) {
                throw new ClosedChannelException();
            }
            return step.run();
        } catch (IOException e) {
            if (!isWithin) {
                cancel(chunk);
                // The end of the feed interrupts threads, which is not a failure of the tier.
                if (!closed && !(e instanceof ClosedByInterruptException)) {
                    faults.writeFailed(e);
                }
            }
            throw e;
        } finally {
            writing.readLock().unlock();
        }
    }

    Path path(ListedChunk chunk) {
        return space.path(chunk.id());
    }

    /** Notes that the file of a chunk is visible. */
    void placed(ListedChunk chunk, long nanos) {
        Kept placed = coming.remove(chunk.id());
        if (placed == null || kept.putIfAbsent(chunk.id(), placed) != null) {
            usedBytes.addAndGet(placed == null ? 0 : -placed.bytes);
        }
        faults.hasWritten();
        use.loads.increment();
        use.loadNanos.add(nanos);
    }

    @Override
    public void cancel(ListedChunk chunk) {
        Kept reserved = coming.remove(chunk.id());
        usedBytes.addAndGet(reserved == null ? 0 : -reserved.bytes);
    }

    @Override
    public boolean isInstant() {
        return space.isMemory();
    }

    @Override
    public boolean hasFiles() {
        return true;
    }

    @Override
    public void forget(ListedChunk chunk) {
        remove(chunk.id());
    }

    private void remove(UUID id) {
        Kept known = kept.remove(id);
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

    @Override
    public TierUse use() {
        return use;
    }

    @Override
    public TierStatus status() {
        return new TierStatus(
                name,
                usedBytes.get(),
                limitBytes,
                use.hits.sum(),
                use.misses.sum(),
                use.loads.sum(),
                use.loadNanos.sum(),
                use.failures.sum(),
                faults.off(),
                "");
    }

    @Override
    public void close() {
        closed = true;
        awaitWriters();
        kept.keySet().forEach(id -> mappings.forget(space.path(id)));
        try {
            space.close();
        } catch (IOException e) {
            LOG.warn("Tier {} leaves its files behind; the next feed with this directory removes them", name, e);
        }
    }

    /**
     * Waits for writers, so that no file appears after the files are removed. The wait is limited, because a disk may
     * hang.
     */
    private void awaitWriters() {
        try {
            if (writing.writeLock().tryLock(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                writing.writeLock().unlock();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
