package dev.stoker.server.tiers;

import dev.stoker.storage.PartSink;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;

/**
 * A chunk that comes into a tier part by part, and is in nobody's sight until it is kept. Used by one thread, which
 * closes it: what was not kept by then is gone.
 */
interface Arrival extends PartSink, Closeable {
    /**
     * @throws UncheckedIOException if the tier cannot take it, which then has given back its space and counted the
     *     failure
     */
    @Override
    void put(long offset, ByteBuffer part);

    /** The bytes that have come so far, as many as there is room for in the target. */
    void copyTo(ByteBuffer target) throws IOException;

    /**
     * Keeps the chunk, which the caller has checked.
     *
     * @throws IOException if the tier cannot keep it, which then has given back its space and counted the failure
     */
    void keep() throws IOException;

    @Override
    void close();
}
