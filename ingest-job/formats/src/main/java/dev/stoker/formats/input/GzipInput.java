package dev.stoker.formats.input;

import java.io.IOException;
import java.io.InputStream;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import java.util.zip.ZipException;

/**
 * Decompresses gzip (RFC 1952), also several members in a row. Java's own stream ignores bytes behind the last member;
 * this one refuses them. Zeros behind it are padding. Not thread-safe.
 */
final class GzipInput extends InputStream {
    private static final int MAX_HEADER_TEXT = 1 << 16;
    private static final int HEADER_CRC = 2;
    private static final int EXTRA = 4;
    private static final int NAME = 8;
    private static final int COMMENT = 16;
    private static final int RESERVED = 0xE0;

    private final InputStream in;
    private final byte[] buffer = new byte[1 << 16];
    private final Inflater inflater = new Inflater(true);
    private final CRC32 crc = new CRC32();
    private int at;
    private int end;
    private boolean done;

    GzipInput(InputStream in) throws IOException {
        this.in = in;
        header(next());
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] dst, int offset, int count) throws IOException {
        if (count == 0) {
            return 0;
        }
        while (!done) {
            int now = inflate(dst, offset, count);
            if (now > 0) {
                crc.update(dst, offset, now);
                return now;
            }
            if (inflater.finished()) {
                endMember();
            } else if (inflater.needsDictionary()) {
                throw new ZipException("gzip data needs a dictionary");
            } else if (inflater.needsInput()) {
                if (at == end) {
                    fill();
                }
                inflater.setInput(buffer, at, end - at);
                at = end;
            }
        }
        return -1;
    }

    private int inflate(byte[] dst, int offset, int count) throws ZipException {
        try {
            return inflater.inflate(dst, offset, count);
        } catch (DataFormatException e) {
            throw new ZipException("gzip data is damaged: " + e.getMessage());
        }
    }

    private void endMember() throws IOException {
        at = end - inflater.getRemaining();
        if (little(4) != (int) crc.getValue() || little(4) != (int) inflater.getBytesWritten()) {
            throw new ZipException("the checksum or length at the end of gzip data is wrong");
        }
        inflater.reset();
        crc.reset();
        int first = nextOrEnd();
        if (first == 0) {
            while (first == 0) {
                first = nextOrEnd();
            }
            if (first >= 0) {
                throw new ZipException("there are other bytes behind the gzip data");
            }
        }
        if (first < 0) {
            done = true;
        } else {
            header(first);
        }
    }

    private void header(int first) throws IOException {
        if (first != 0x1f || next() != 0x8b || next() != 8) {
            throw new ZipException("there are other bytes behind the gzip data");
        }
        int flags = next();
        if ((flags & RESERVED) != 0) {
            throw new ZipException("the header of gzip data has unknown flags");
        }
        skip(6);
        if ((flags & EXTRA) != 0) {
            skip(little(2));
        }
        if ((flags & NAME) != 0) {
            text();
        }
        if ((flags & COMMENT) != 0) {
            text();
        }
        if ((flags & HEADER_CRC) != 0) {
            skip(2);
        }
    }

    private void text() throws IOException {
        for (int i = 0; next() != 0; i++) {
            if (i > MAX_HEADER_TEXT) {
                throw new ZipException("the header of gzip data is too long");
            }
        }
    }

    private void skip(int count) throws IOException {
        for (int i = 0; i < count; i++) {
            next();
        }
    }

    private int little(int bytes) throws IOException {
        int value = 0;
        for (int i = 0; i < bytes; i++) {
            value |= next() << (8 * i);
        }
        return value;
    }

    private int next() throws IOException {
        int value = nextOrEnd();
        if (value < 0) {
            throw new ZipException("gzip data ends too early");
        }
        return value;
    }

    private int nextOrEnd() throws IOException {
        if (at == end) {
            int now = in.read(buffer, 0, buffer.length);
            if (now < 0) {
                return -1;
            }
            at = 0;
            end = now;
        }
        return buffer[at++] & 0xff;
    }

    private void fill() throws IOException {
        int now = in.read(buffer, 0, buffer.length);
        if (now < 0) {
            throw new ZipException("gzip data ends too early");
        }
        at = 0;
        end = now;
    }

    @Override
    public void close() throws IOException {
        inflater.end();
        in.close();
    }
}
