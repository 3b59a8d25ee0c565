package dev.stoker.feeder.node.chunks;

import java.nio.ByteBuffer;

/** A chunk's bytes in direct memory of this process, freed when it is let go. */
public final class OwnedBytes implements ChunkBytes {
    private final ByteBuffer bytes;

    /** @param length bytes of the chunk; zeros until written */
    public OwnedBytes(int length) {
        bytes = ByteBuffer.allocateDirect(length);
    }

    @Override
    public ByteBuffer bytes() {
        return bytes;
    }

    @Override
    public void close() {
        DirectMemory.free(bytes);
    }
}
