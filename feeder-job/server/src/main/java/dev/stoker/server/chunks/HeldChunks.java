package dev.stoker.server.chunks;

import dev.stoker.schemas.errors.CorruptDataException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Chunks whose bytes are available in memory, within a limit. They are usually mapped files; the caller chooses what
 * counts against the limit.
 *
 * <p>Each user of a chunk holds it. If room is needed, the chunks that were unused for the longest time are freed. If
 * all chunks are held, the limit is exceeded by what the batches in flight need. Thread-safe; the lock guards the two
 * maps and the counts, and no thread holds it during a system call on a file.
 */
public final class HeldChunks implements AutoCloseable {
    /** Loads a chunk's bytes. */
    public interface Loader {
        /** Returns a buffer that is neither a slice nor a duplicate. */
        ByteBuffer load() throws IOException;

        /** Returns the file from which the bytes are mapped, if they are mapped. Called after the bytes are loaded. */
        default Optional<LocalFile> file() throws IOException {
            return Optional.empty();
        }
    }

    /** A chunk's bytes and the number of their holds. */
    private final class Held implements ChunkBytes {
        final Object key;
        final long weight;
        final ByteBuffer loaded;
        final Optional<LocalFile> file;
        int holds;
        boolean dropped;

        Held(Object key, long weight, ByteBuffer loaded, Optional<LocalFile> file) {
            this.file = file;
            this.key = key;
            this.weight = weight;
            this.loaded = loaded;
        }

        @Override
        public Optional<LocalFile> file() {
            return file;
        }

        @Override
        public ByteBuffer bytes() {
            return loaded;
        }

        @Override
        public void close() {
            release(this);
        }
    }

    private final long limit;
    private final Map<Object, Held> present = new HashMap<>();
    /** Chunks without holds, longest idle first. */
    private final LinkedHashMap<Object, Held> idle = new LinkedHashMap<>();

    private long used;
    private boolean closed;

    /** @param limit maximum of the total weight of all chunks */
    public HeldChunks(long limit) {
        this.limit = limit;
    }

    /**
     * Holds a mapping of a file. Its weight is 1.
     *
     * @throws CorruptDataException if the file has another length
     */
    public ChunkBytes map(Path path, long length) throws IOException {
        return hold(path, 1, new Loader() {
            @Override
            public ByteBuffer load() throws IOException {
                try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
                    long found = file.size();
                    if (found != length) {
                        throw CorruptDataException.mismatch(path.toString(), "length in bytes", length, found);
                    }
                    return file.map(FileChannel.MapMode.READ_ONLY, 0, length);
                }
            }

            @Override
            public Optional<LocalFile> file() throws IOException {
                return LocalFile.of(path);
            }
        });
    }

    /**
     * Holds a chunk's bytes, and loads them if necessary.
     *
     * @param key identifies the chunk
     * @param weight what the chunk counts against the limit
     */
    public ChunkBytes hold(Object key, long weight, Loader loader) throws IOException {
        synchronized (this) {
            Held known = present.get(key);
            if (known != null) {
                return held(known);
            }
        }
        makeRoom(weight);
        Held fresh;
        LoadTime.begin();
        try {
            ByteBuffer loaded = loader.load();
            fresh = new Held(key, weight, loaded, fileOf(loader, loaded));
        } finally {
            LoadTime.end();
        }
        Held result;
        synchronized (this) {
            result = present.get(key);
            if (result == null && !closed) {
                present.put(key, fresh);
                used += weight;
                result = fresh;
            }
            if (result != null) {
                held(result);
            }
        }
        if (result != fresh) {
            DirectMemory.free(fresh.loaded);
        }
        if (result == null) {
            throw new IOException(key + " cannot be read: the feeder is shutting down");
        }
        return result;
    }

    private static Optional<LocalFile> fileOf(Loader loader, ByteBuffer loaded) throws IOException {
        try {
            return loader.file();
        } catch (IOException | RuntimeException | Error e) {
            DirectMemory.free(loaded);
            throw e;
        }
    }

    private Held held(Held chunk) {
        if (chunk.holds++ == 0) {
            idle.remove(chunk.key);
        }
        return chunk;
    }

    private void release(Held chunk) {
        boolean free;
        synchronized (this) {
            if (chunk.holds < 1) {
                throw new IllegalStateException(chunk.key + " was released more often than held");
            }
            chunk.holds--;
            free = chunk.holds == 0 && (chunk.dropped || closed);
            if (free) {
                remove(chunk);
            } else if (chunk.holds == 0) {
                idle.put(chunk.key, chunk);
            }
        }
        if (free) {
            DirectMemory.free(chunk.loaded);
        } else {
            makeRoom(0);
        }
    }

    private void remove(Held chunk) {
        if (present.remove(chunk.key, chunk)) {
            used -= chunk.weight;
        }
    }

    /** Frees idle chunks until this weight fits. */
    private void makeRoom(long weight) {
        while (true) {
            Held victim;
            synchronized (this) {
                if (used + weight <= limit || idle.isEmpty()) {
                    return;
                }
                victim = idle.values().iterator().next();
                idle.remove(victim.key);
                remove(victim);
            }
            DirectMemory.free(victim.loaded);
        }
    }

    /** Forgets a chunk, so that the next hold loads it again. Existing holds keep their bytes. */
    public void forget(Object key) {
        Held free = null;
        synchronized (this) {
            Held chunk = present.get(key);
            if (chunk != null) {
                remove(chunk);
                chunk.dropped = true;
                if (chunk.holds == 0) {
                    idle.remove(key);
                    free = chunk;
                }
            }
        }
        if (free != null) {
            DirectMemory.free(free.loaded);
        }
    }

    /** Returns the number of chunks in memory. */
    public synchronized int size() {
        return present.size();
    }

    /** Returns their total weight. */
    public synchronized long used() {
        return used;
    }

    /** Frees all chunks without holds. The other chunks are freed with their last hold. */
    @Override
    public void close() {
        List<Held> free;
        synchronized (this) {
            closed = true;
            free = new ArrayList<>(idle.values());
            idle.clear();
            free.forEach(this::remove);
        }
        free.forEach(chunk -> DirectMemory.free(chunk.loaded));
    }
}
