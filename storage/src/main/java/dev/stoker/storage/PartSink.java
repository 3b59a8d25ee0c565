package dev.stoker.storage;

import java.nio.ByteBuffer;

/** Accepts the bytes of an object part by part while they are read. One thread calls it. */
@FunctionalInterface
public interface PartSink {
    /**
     * Takes a part; its buffer is used again afterwards. Parts come in order and without gaps; where a reading failed and is
     * repeated, they come from its beginning again, in place of what came before.
     *
     * @param offset where the part lies in the object
     * @throws java.io.UncheckedIOException if it cannot be taken; the reading ends with that
     */
    void put(long offset, ByteBuffer part);
}
