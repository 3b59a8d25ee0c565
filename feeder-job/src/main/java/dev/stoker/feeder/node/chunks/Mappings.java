package dev.stoker.feeder.node.chunks;

import dev.stoker.schemas.errors.CorruptDataException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Mapped files, at most so many at a time, shared by all streams of a node.
 *
 * <p>A mapping is counted by its holds; the one longest without any is unmapped when room is needed. When every mapping is
 * held, the limit is exceeded by what the batches in flight need. Thread-safe; the lock guards the two maps and the counts,
 * never a system call on a file.
 */
public final class Mappings implements AutoCloseable {
    /** A mapped file and its holds. */
    private final class Mapping implements ChunkBytes {
        final Path path;
        final MappedByteBuffer mapped;
        int holds;
        boolean dropped;

        Mapping(Path path, MappedByteBuffer bytes) {
            this.path = path;
            this.mapped = bytes;
        }

        @Override
        public ByteBuffer bytes() {
            return mapped;
        }

        @Override
        public void close() {
            release(this);
        }
    }

    private final int limit;
    private final Map<Path, Mapping> mapped = new HashMap<>();
    /** Mappings without holds, longest idle first. */
    private final LinkedHashMap<Path, Mapping> idle = new LinkedHashMap<>();

    private boolean closed;

    /** @param limit mappings at a time */
    public Mappings(int limit) {
        this.limit = limit;
    }

    /** Holds the file's bytes, mapping it if need be. */
    ChunkBytes hold(Path path, long length) throws IOException {
        synchronized (this) {
            Mapping mapping = mapped.get(path);
            if (mapping != null) {
                return held(mapping);
            }
        }
        Mapping fresh = new Mapping(path, map(path, length));
        Mapping result;
        Mapping surplus = null;
        synchronized (this) {
            Mapping other = mapped.get(path);
            if (closed || other != null) {
                surplus = fresh;
            } else {
                mapped.put(path, fresh);
                other = fresh;
            }
            result = other;
            if (result != null) {
                held(result);
            }
        }
        if (surplus != null) {
            DirectMemory.free(surplus.mapped);
        }
        if (result == null) {
            throw new IOException(path + " is not mapped: the node is shut down");
        }
        unmapSurplus();
        return result;
    }

    private Mapping held(Mapping mapping) {
        if (mapping.holds++ == 0) {
            idle.remove(mapping.path);
        }
        return mapping;
    }

    private static MappedByteBuffer map(Path path, long length) throws IOException {
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
            long found = file.size();
            if (found != length) {
                throw CorruptDataException.mismatch(path.toString(), "length in bytes", length, found);
            }
            return file.map(FileChannel.MapMode.READ_ONLY, 0, length);
        }
    }

    private void release(Mapping mapping) {
        boolean unmap;
        synchronized (this) {
            if (mapping.holds < 1) {
                throw new IllegalStateException(mapping.path + " was released more often than held");
            }
            mapping.holds--;
            unmap = mapping.holds == 0 && (mapping.dropped || closed);
            if (mapping.holds == 0 && !unmap) {
                idle.put(mapping.path, mapping);
            } else if (unmap) {
                mapped.remove(mapping.path, mapping);
            }
        }
        if (unmap) {
            DirectMemory.free(mapping.mapped);
        } else {
            unmapSurplus();
        }
    }

    private void unmapSurplus() {
        while (true) {
            Mapping victim;
            synchronized (this) {
                if (mapped.size() <= limit || idle.isEmpty()) {
                    return;
                }
                victim = idle.values().iterator().next();
                idle.remove(victim.path);
                mapped.remove(victim.path);
            }
            DirectMemory.free(victim.mapped);
        }
    }

    /** The next hold of the file maps it anew; present holds keep what they have. */
    void forget(Path path) {
        Mapping unmap = null;
        synchronized (this) {
            Mapping mapping = mapped.remove(path);
            if (mapping != null) {
                mapping.dropped = true;
                if (mapping.holds == 0) {
                    idle.remove(path);
                    unmap = mapping;
                }
            }
        }
        if (unmap != null) {
            DirectMemory.free(unmap.mapped);
        }
    }

    /** Mapped files now. */
    public synchronized int size() {
        return mapped.size();
    }

    @Override
    public void close() {
        List<Mapping> unmap;
        synchronized (this) {
            closed = true;
            unmap = new ArrayList<>(idle.values());
            idle.clear();
            for (Mapping mapping : unmap) {
                mapped.remove(mapping.path);
            }
        }
        for (Mapping mapping : unmap) {
            DirectMemory.free(mapping.mapped);
        }
    }
}
