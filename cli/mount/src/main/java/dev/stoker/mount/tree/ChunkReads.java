package dev.stoker.mount.tree;

import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.server.chunks.ChunkBytes;
import dev.stoker.server.chunks.ChunkSource;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Reads payload of one version from its chunks. Chunks that a tier has, or has room for, are read whole; so are chunks
 * that are read row by row. Of other far chunks, only the bytes of the samples are read. Thread-safe.
 */
final class ChunkReads implements AutoCloseable {

    private final ChunkSource source;
    private final ReadAhead ahead;

    ChunkReads(ChunkSource source) {
        this.source = source;
        this.ahead = new ReadAhead(source);
    }

    /**
     * Notes that a program reads a sample. Samples that are only read ahead are not noted: they always follow each
     * other, whatever the program does.
     */
    void note(SamplePlace place) {
        ahead.note(place.stream(), place.index(), place.chunk(), place.row());
    }

    /** Fills a buffer with bytes of a sample, which are not checked. */
    void read(SamplePlace place, int offset, ByteBuffer target) throws IOException {
        long position = (long) place.position() + offset;
        if (ahead.isWhole(place.chunk())) {
            source.read(place.chunk(), position, target);
        } else {
            source.readPart(place.chunk(), position, target);
        }
    }

    /** Returns whether chunks that are read whole take memory of this process, or of its tiers. */
    boolean isInMemory() {
        return source.takesMemory();
    }

    /** Holds the whole chunk of a sample. */
    ChunkBytes hold(SamplePlace place) throws IOException {
        return source.hold(place.chunk());
    }

    /** Drops copies of a chunk that was found damaged. */
    void forget(SamplePlace place) {
        source.forget(place.chunk());
    }

    /** Returns the error for a sample whose checksum is still wrong after a second read. */
    CorruptDataException damaged(SamplePlace place, int found) {
        return CorruptDataException.mismatch(
                place.chunk().name(),
                "CRC32C of sample '" + place.key() + "' in row " + place.row() + " of chunk "
                        + place.stream().chunks().ordinal(place.index()) + ", version "
                        + place.stream().version(),
                Crc32cs.hex(place.crc32c()),
                Crc32cs.hex(found));
    }

    @Override
    public void close() {
        ahead.close();
    }
}
