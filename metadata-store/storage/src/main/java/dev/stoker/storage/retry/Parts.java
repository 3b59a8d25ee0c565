package dev.stoker.storage.retry;

import dev.stoker.storage.PartSink;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/**
 * Buffers a stream in an array and passes the array on when it is full. The array is small enough to stay in the
 * processor's cache until then, and large enough to justify a call. Not thread-safe.
 */
public final class Parts {

    private static final int MOST_BYTES = 256 << 10;

    private final byte[] array;
    private final PartSink sink;
    /** Position of the array's first byte in the object. */
    private long offset;

    private long left;
    private int filled;

    public Parts(long offset, int length, PartSink sink) {
        this.array = new byte[Math.min(length, MOST_BYTES)];
        this.sink = sink;
        this.offset = offset;
        this.left = length;
    }

    /**
     * Passes the bytes of a stream to the sink, at most {@code length}.
     *
     * @return the number of bytes
     */
    public static int copy(InputStream in, long offset, int length, PartSink sink, SlowReadGuard guard)
            throws IOException {
        Parts parts = new Parts(offset, length, sink);
        SlowReadGuard.Watch watch = guard.new Watch();
        for (int read; (read = in.read(parts.array(), parts.filled(), parts.room())) > 0; ) {
            watch.got(read);
            parts.add(read);
        }
        parts.end();
        return (int) (parts.position() - offset);
    }

    public byte[] array() {
        return array;
    }

    /** Returns the position of the next bytes in the array. */
    public int filled() {
        return filled;
    }

    /** Returns the number of bytes that may be read into the array; 0 after the last byte. */
    public int room() {
        return (int) Math.min(array.length - filled, left);
    }

    /** Returns the position of the next bytes in the object. */
    public long position() {
        return offset + filled;
    }

    /** Reports the number of bytes that were read. */
    public void add(int read) {
        filled += read;
        left -= read;
        if (filled == array.length) {
            end();
        }
    }

    /** Passes on the rest after the last byte. */
    public void end() {
        if (filled > 0) {
            sink.put(offset, ByteBuffer.wrap(array, 0, filled));
            offset += filled;
            filled = 0;
        }
    }
}
