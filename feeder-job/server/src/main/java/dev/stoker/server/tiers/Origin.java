package dev.stoker.server.tiers;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.server.chunks.ListedChunk;
import dev.stoker.server.chunks.OriginReads;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.PartSink;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads whole chunks of one store, and checks them against the chunk table. Thread-safe. */
final class Origin {
    private static final Logger LOG = LoggerFactory.getLogger(Origin.class);

    private final ObjectStore store;
    private final OriginReads reads;

    Origin(ObjectStore store, OriginReads reads) {
        this.store = store;
        this.reads = reads;
    }

    /**
     * Reads a chunk; when its bytes are not those of the chunk table, once more.
     *
     * @param target as long as the chunk
     * @return whether the bytes are those of the chunk table; if not, they are those of the second read
     * @throws CorruptDataException if the object is shorter, the second time as well
     * @throws IOException if the origin fails
     */
    boolean load(ListedChunk chunk, ByteBuffer target) throws IOException {
        return load(chunk, (offset, part) -> target.position((int) offset).put(part));
    }

    /**
     * As {@link #load(ListedChunk, ByteBuffer)}, part by part.
     *
     * @param sink what it throws comes out of here as it is
     */
    boolean load(ListedChunk chunk, PartSink sink) throws IOException {
        try {
            if (isIntact(chunk, sink)) {
                return true;
            }
            LOG.warn("Checksum mismatch in {}; reading again", describe(chunk));
        } catch (CorruptDataException e) {
            LOG.warn("{} is truncated; reading again: {}", describe(chunk), e.getMessage());
        }
        return isIntact(chunk, sink);
    }

    /** The checksum is taken while a part is in the processor's cache, of the bytes that are handed on. */
    private boolean isIntact(ListedChunk chunk, PartSink sink) throws IOException {
        CRC32C crc = new CRC32C();
        reads.read(store, chunk, (offset, part) -> {
            if (offset == 0) {
                crc.reset();
            }
            crc.update(part.duplicate());
            sink.put(offset, part);
        });
        return (int) crc.getValue() == chunk.crc32c();
    }

    /** Reads a part of a chunk, unchecked. */
    void read(ListedChunk chunk, long offset, ByteBuffer target) throws IOException {
        reads.read(store, chunk, offset, target);
    }

    /** Where a chunk is, for messages. */
    String describe(ListedChunk chunk) {
        return store.describe(chunk.name());
    }
}
