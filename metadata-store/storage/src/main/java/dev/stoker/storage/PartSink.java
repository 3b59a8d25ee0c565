package dev.stoker.storage;

import java.nio.ByteBuffer;

/** Accepts the bytes of an object part by part while they are read. One thread calls it. */
@FunctionalInterface
public interface PartSink {
    /**
     * Accepts a part. The reader reuses the buffer afterwards. Parts arrive in order and without gaps. If the reader
     * retries after a failure, it sends parts from the beginning of the read again, which replace the earlier ones.
     *
     * @param offset position of the part in the object
     * @throws java.io.UncheckedIOException if the sink cannot accept the part; the read then ends with this exception
     */
    void put(long offset, ByteBuffer part);
}
