package dev.stoker.mount.tree;

import dev.stoker.server.chunks.ChunkBytes;
import dev.stoker.server.chunks.ChunkSource;
import dev.stoker.server.chunks.ListedChunk;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Reads payload of one version from its chunks. Chunks that a tier has, or has room for, are read whole; so are chunks
 * that are read row by row. Of other far chunks, only the bytes of the samples are read. Thread-safe.
 */
final class MountedChunks implements AutoCloseable {

    private final ChunkSource source;
    private final FileReadAhead ahead;

    MountedChunks(ChunkSource source) {
        this.source = source;
        this.ahead = new FileReadAhead(source);
    }

    /**
     * Notes that a program reads a sample. Samples that are only read ahead are not noted: they always follow each
     * other, whatever the program does.
     */
    void note(ContentAddress place) {
        ahead.note(place.stream(), place.index(), place.chunk(), place.row());
    }

    /** Fills a buffer with bytes of a chunk, which are not checked. */
    void read(ListedChunk chunk, long position, ByteBuffer target) throws IOException {
        if (ahead.isWhole(chunk)) {
            source.read(chunk, position, target);
        } else {
            source.readPart(chunk, position, target);
        }
    }

    /** Returns whether chunks that are read whole take memory of this process, or of its tiers. */
    boolean isInMemory() {
        return source.takesMemory();
    }

    /** Holds the whole chunk of a sample. */
    ChunkBytes hold(ContentAddress place) throws IOException {
        return source.hold(place.chunk());
    }

    /** Drops copies of a chunk that was found damaged. */
    void forget(ContentAddress place) {
        source.forget(place.chunk());
    }

    @Override
    public void close() {
        ahead.close();
    }
}
