package dev.stoker.storage;

import java.nio.ByteBuffer;

/** Receives the bytes of an object part by part while they are read. Used by one thread. */
@FunctionalInterface
public interface PartSink {
    /**
     * Receives a part; its buffer is reused afterwards. Parts arrive in order and without gaps. If a read fails and is
     * retried, the parts start again from its beginning and replace the earlier ones.
     *
     * @param offset the part's position in the object
     * @throws java.io.UncheckedIOException if the part cannot be processed; this ends the read
     */
    void put(long offset, ByteBuffer part);
}
