package dev.stoker.storage.hadoop;

import dev.stoker.storage.PartSink;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/**
 * The array into which a stream is read, and which is passed on whenever it is full: small enough to stay in the
 * processor's cache, large enough to justify a call. One thread.
 */
final class Parts {

    private static final int MOST_BYTES = 256 << 10;

    private final byte[] array;
    private final PartSink sink;
    /** The position of the array's first byte in the object. */
    private long offset;

    private long left;
    private int filled;

    Parts(long offset, int length, PartSink sink) {
        this.array = new byte[Math.min(length, MOST_BYTES)];
        this.sink = sink;
        this.offset = offset;
        this.left = length;
    }

    /**
     * Passes on at most {@code length} bytes of a stream.
     *
     * @return the number of bytes in the stream
     */
    static int copy(InputStream in, long offset, int length, PartSink sink, SlowReadGuard guard) throws IOException {
        Parts parts = new Parts(offset, length, sink);
        SlowReadGuard.Watch watch = guard.new Watch();
        for (int read; (read = in.read(parts.array(), parts.filled(), parts.room())) > 0; ) {
            watch.got(read);
            parts.add(read);
        }
        parts.end();
        return (int) (parts.position() - offset);
    }

    byte[] array() {
        return array;
    }

    /** The position in the array for the next bytes. */
    int filled() {
        return filled;
    }

    /** The number of bytes that can be read into the array; 0 when all have arrived. */
    int room() {
        return (int) Math.min(array.length - filled, left);
    }

    /** The position of the next bytes in the object. */
    long position() {
        return offset + filled;
    }

    /** Notes that this number of bytes was read. */
    void add(int read) {
        filled += read;
        left -= read;
        if (filled == array.length) {
            end();
        }
    }

    /** Passes on the rest at the end. */
    void end() {
        if (filled > 0) {
            sink.put(offset, ByteBuffer.wrap(array, 0, filled));
            offset += filled;
            filled = 0;
        }
    }
}
