package dev.stoker.server.tiers;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.server.chunks.ChunkBytes;
import dev.stoker.server.chunks.HeldChunks;
import dev.stoker.server.chunks.ListedChunk;
import dev.stoker.server.tiers.files.CacheFiles;
import dev.stoker.server.tiers.files.CacheLifetime;
import dev.stoker.server.tiers.files.ChunkSpace;
import dev.stoker.server.tiers.files.FileCatalogue;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileLock;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps chunks as files, on a local disk or in memory, and maps them. A {@link FileCatalogue} knows the files and the
 * space. If other feeds place chunks too, files are also found on request. Every file is checked before its first use.
 * Files become visible as a whole, and are deleted, but never changed. Thread-safe.
 */
public final class FileTier implements Tier {
    private static final Logger LOG = LoggerFactory.getLogger(FileTier.class);

    private final String name;
    private final CacheLifetime lifetime;
    private final CacheFiles files;
    private final HeldChunks mappings;
    private final ChunkSpace space;
    private final FileCatalogue catalogue;
    private final TierUse use = new TierUse();
    private final FileFaults faults;
    private final WriteGate gate = new WriteGate();

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
        this.lifetime = lifetime;
        this.space = space;
        this.files = files;
        this.mappings = mappings;
        this.catalogue = new FileCatalogue(name, limitBytes, space, files, mappings);
        this.faults = new FileFaults(name, space.isMemory() ? "the machine's shared memory" : "the disk", use);
        if (!space.isShared()) {
            space.removeUnfinished();
        }
        catalogue.load(lifetime, ours);
    }

    @Override
    public boolean has(ListedChunk chunk) {
        FileCatalogue.Entry known = catalogue.get(chunk.id());
        return known != null && known.checked && !faults.isUnreadable();
    }

    @Override
    public boolean mayHave(ListedChunk chunk) {
        return !faults.isUnreadable() && (lifetime == CacheLifetime.NODE || catalogue.has(chunk.id()));
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
        FileCatalogue.Entry known = faults.isUnreadable() ? null : catalogue.get(chunk.id());
        if (known == null) {
            known = find(chunk);
        }
        if (known == null) {
            return false;
        }
        synchronized (known) {
            if (!known.checked && catalogue.get(chunk.id()) == known) {
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
    private FileCatalogue.@Nullable Entry find(ListedChunk chunk) {
        if (lifetime != CacheLifetime.NODE || faults.isUnreadable()) {
            return null;
        }
        try {
            return catalogue.found(chunk.id(), files.length(space.path(chunk.id())));
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
        return !faults.isOff() && catalogue.reserve(chunk);
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
        return space.isMemory() && !faults.isOff() ? Math.max(0, catalogue.freeBytes()) : 0;
    }

    /** A step of placing a chunk. */
    interface Step {
        void run() throws IOException;
    }

    /** Creates the file of a chunk, as a step of placing it. */
    CacheFiles.Unfinished create(ListedChunk chunk) throws IOException {
        return placing(chunk, () -> files.create(space.path(chunk.id())));
    }

    /** Runs a step of placing a chunk, or several steps as one. */
    public void write(ListedChunk chunk, Step step) throws IOException {
        placing(chunk, () -> {
            step.run();
            return chunk;
        });
    }

    /** Closing the tier waits for the step. If it fails, the space of the chunk is released. */
    private <T> T placing(ListedChunk chunk, WriteGate.Step<T> step) throws IOException {
        return gate.run(step, failure -> {
            cancel(chunk);
            // The end of the feed interrupts threads, which is not a failure of the tier.
            if (!gate.isClosed() && !(failure instanceof ClosedByInterruptException)) {
                faults.writeFailed(failure);
            }
        });
    }

    public Path path(ListedChunk chunk) {
        return space.path(chunk.id());
    }

    /** Notes that the file of a chunk is visible. */
    void placed(ListedChunk chunk, long nanos) {
        catalogue.placed(chunk.id());
        faults.hasWritten();
        use.loads.increment();
        use.loadNanos.add(nanos);
    }

    @Override
    public void cancel(ListedChunk chunk) {
        catalogue.cancel(chunk.id());
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
        catalogue.remove(chunk.id());
    }

    @Override
    public void erase(Set<UUID> chunks) {
        chunks.forEach(catalogue::erase);
    }

    @Override
    public TierUse use() {
        return use;
    }

    @Override
    public TierStatus status() {
        return new TierStatus(
                name,
                catalogue.usedBytes(),
                catalogue.limitBytes(),
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
        gate.close();
        catalogue.unmap();
        try {
            space.close();
        } catch (IOException e) {
            LOG.warn("Tier {} leaves its files behind; the next feed with this directory removes them", name, e);
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
