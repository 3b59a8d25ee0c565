package dev.stoker.storage.hadoop;

import dev.stoker.storage.PartSink;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/**
 * Buffers a stream in an array and passes the array on when it is full. The array is small enough to stay in the
 * processor's cache until then, and large enough to justify a call. Not thread-safe.
 */
final class Parts {

    private static final int MOST_BYTES = 256 << 10;

    private final byte[] array;
    private final PartSink sink;
    /** Where the array's first byte lies in the object. */
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
     * Hands on what a stream has, at most so many bytes.
     *
     * @return how many there were
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

    /** Where in the array the next bytes go. */
    int filled() {
        return filled;
    }

    /** How many bytes may be read there; 0 when all have come. */
    int room() {
        return (int) Math.min(array.length - filled, left);
    }

    /** Where the next bytes lie in the object. */
    long position() {
        return offset + filled;
    }

    /** So many bytes were read. */
    void add(int read) {
        filled += read;
        left -= read;
        if (filled == array.length) {
            end();
        }
    }

    /** Nothing more comes. */
    void end() {
        if (filled > 0) {
            sink.put(offset, ByteBuffer.wrap(array, 0, filled));
            offset += filled;
            filled = 0;
        }
    }
}
