package dev.stoker.formats.input;

import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.schemas.io.RangeReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Reads the bytes of a file in their order and decompresses them if necessary. Positions count decompressed bytes. Not
 * thread-safe.
 */
public final class ByteInput implements Closeable {
    /** Fits into the cache of a processor, so that the second copy costs little. */
    private static final int BUFFER = 1 << 20;

    private static final int FIRST_STEP = 1 << 20;

    private final String name;
    private final InputStream in;
    /** Bytes that the file has if it is not compressed, otherwise -1. */
    private final long length;

    private byte[] buffer;
    private int at;
    private int end;
    /** Position of the end of the buffer. */
    private long filled;

    private ByteInput(String name, InputStream in, long offset, long length) {
        this.name = name;
        this.in = in;
        this.length = length;
        this.filled = offset;
        this.buffer = new byte[(int) Math.max(1 << 10, Math.min(BUFFER, length < 0 ? BUFFER : length - offset))];
    }

    /** Opens a file at its start. */
    public static ByteInput open(RangeReader file, Compression compression, ReadLimits limits) throws IOException {
        if (compression == Compression.NONE) {
            return openAt(file, 0);
        }
        return new ByteInput(file.name(), new DecompressedInput(file, compression, limits), 0, -1);
    }

    /** Opens a file that is not compressed at an offset. */
    public static ByteInput openAt(RangeReader file, long offset) throws IOException {
        return new ByteInput(file.name(), new RangeInput(file, offset), offset, file.length());
    }

    /** Reads bytes that are in memory. */
    public static ByteInput of(String name, InputStream bytes) {
        return new ByteInput(name, bytes, 0, -1);
    }

    /** Returns the compression of a file by its first bytes. */
    public static Compression compressionOf(RangeReader file) throws IOException {
        ByteBuffer first = ByteBuffer.allocate((int) Math.min(4, file.length()));
        file.readFully(0, first);
        return Compression.of(first.flip());
    }

    /** Returns the file's name for messages. */
    public String name() {
        return name;
    }

    /** Returns the position in the decompressed file. */
    public long position() {
        return filled - (end - at);
    }

    /** Returns the next byte, or -1 at the end. */
    public int read() throws IOException {
        return at < end || fill() ? buffer[at++] & 0xff : -1;
    }

    /** Returns whether all bytes were read. */
    public boolean atEnd() throws IOException {
        return at == end && !fill();
    }

    private boolean fill() throws IOException {
        int now = in.read(buffer, 0, buffer.length);
        at = 0;
        end = Math.max(0, now);
        filled += end;
        return now > 0;
    }

    /**
     * Reads bytes into an array until it is full or the file ends.
     *
     * @return the number of bytes
     */
    public int read(byte[] dst, int offset, int count) throws IOException {
        int done = Math.min(count, end - at);
        System.arraycopy(buffer, at, dst, offset, done);
        at += done;
        while (done < count) {
            if (count - done < buffer.length >> 1) {
                if (!fill()) {
                    return done;
                }
                int now = Math.min(count - done, end);
                System.arraycopy(buffer, 0, dst, offset + done, now);
                at = now;
                done += now;
            } else {
                int now = in.read(dst, offset + done, count - done);
                if (now < 0) {
                    return done;
                }
                filled += now;
                done += now;
            }
        }
        return done;
    }

    /**
     * Reads a value with a declared length.
     *
     * @param what the value, for the message if the file ends before it does
     * @return little-endian
     */
    public ByteBuffer read(long count, String what) throws IOException {
        return read(count, what, new byte[0]);
    }

    /**
     * Reads a value with a declared length into an array if it is large enough, otherwise into a new one.
     *
     * @param what the value, for the message if the file ends before it does
     * @return little-endian
     */
    public ByteBuffer read(long count, String what, byte[] reuse) throws IOException {
        long start = position();
        if (count < 0 || count > Integer.MAX_VALUE - 8 || (length >= 0 && count > length - start)) {
            throw truncated(start, count, what);
        }
        byte[] bytes = reuse;
        if (bytes.length < count) {
            // Of a compressed file nothing is known, so memory grows with what really comes.
            bytes = new byte[(int) (length >= 0 ? count : Math.min(count, FIRST_STEP))];
        }
        int done = 0;
        while (done < count) {
            if (done == bytes.length) {
                bytes = Arrays.copyOf(bytes, (int) Math.min(count, 2L * bytes.length));
            }
            int wanted = (int) Math.min(count, bytes.length) - done;
            int now = read(bytes, done, wanted);
            done += now;
            if (now < wanted) {
                throw truncated(start, count, what);
            }
        }
        return ByteBuffer.wrap(bytes, 0, (int) count).order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * Skips a value with a declared length.
     *
     * @param what the value, for the message if the file ends before it does
     */
    public void skip(long count, String what) throws IOException {
        long start = position();
        if (count < 0 || (length >= 0 && count > length - start)) {
            throw truncated(start, count, what);
        }
        long left = count - Math.min(count, end - at);
        at += (int) (count - left);
        while (left > 0) {
            if (length >= 0) {
                long now = in.skip(left);
                filled += now;
                left -= now;
            } else if (fill()) {
                at = (int) Math.min(left, end);
                left -= at;
            } else {
                throw truncated(start, count, what);
            }
        }
    }

    private DamagedFileException truncated(long start, long count, String what) {
        return new DamagedFileException(name + " ends too early: " + what + " at offset " + start + " has "
                + (count < 0 ? Long.toUnsignedString(count) : Long.toString(count)) + " bytes, but the file ends at "
                + (length >= 0 ? Long.toString(length) : Long.toString(filled)) + "; restore the file from a copy");
    }

    /**
     * Appends the bytes of a line, with its end, to a buffer.
     *
     * @return whether there was a line
     * @throws DamagedFileException if the line is longer than the limit
     */
    public boolean readLine(LineBuffer line, long limit) throws IOException {
        line.clear();
        long start = position();
        while (at < end || fill()) {
            int from = at;
            int stop = from;
            while (stop < end && buffer[stop] != '\n') {
                stop++;
            }
            boolean complete = stop < end;
            stop += complete ? 1 : 0;
            if (line.length() + (long) (stop - from) > limit) {
                throw new DamagedFileException(name + ": the line at offset " + start + " is longer than " + limit
                        + " bytes; check that the file has one row in each line");
            }
            line.append(buffer, from, stop - from);
            at = stop;
            if (complete) {
                return true;
            }
        }
        return line.length() > 0;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
