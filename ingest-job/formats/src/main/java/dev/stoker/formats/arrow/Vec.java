package dev.stoker.formats.arrow;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.NumberWriter;
import dev.stoker.formats.ValueSink;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The values of a field in a record batch. The constructors check that the buffers are long enough; offsets are checked
 * when they are used. IOExceptions have a clause as their message.
 */
abstract class Vec {
    final int length;
    private final ByteBuffer validity;

    /** @param validity the bitmap, empty if no value is null */
    Vec(int length, ByteBuffer validity) throws IOException {
        this.length = length;
        this.validity = validity;
        if (validity.hasRemaining()) {
            need(validity, (length + 7L) / 8);
        }
    }

    static void need(ByteBuffer buffer, long bytes) throws IOException {
        if (buffer.limit() < bytes) {
            throw new IOException("a buffer has " + buffer.limit() + " bytes instead of " + bytes);
        }
    }

    boolean isNull(int index) {
        return validity.hasRemaining() && (validity.get(index >>> 3) >>> (index & 7) & 1) == 0;
    }

    /** Returns whether one of these values is null. */
    boolean hasNull(int from, int to) {
        if (validity.hasRemaining()) {
            for (int i = from; i < to; i++) {
                if (isNull(i)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Gives a value that is not null. */
    abstract void give(int index, ValueSink sink) throws IOException, BadValueException;

    /** Adds a number. */
    void append(int index, NumberWriter list) throws IOException, BadValueException {
        throw new IllegalStateException("not a number");
    }

    /** Returns text or bytes. The buffer is valid until the next call. */
    ByteBuffer bytes(int index) throws IOException {
        throw new IllegalStateException("not bytes");
    }

    /** Returns the little-endian bytes of some numbers, or null if they are not next to each other. */
    @Nullable
    ByteBuffer numbers(int from, int to) {
        return null;
    }
}
