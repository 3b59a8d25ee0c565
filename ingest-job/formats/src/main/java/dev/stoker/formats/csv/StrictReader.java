package dev.stoker.formats.csv;

import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.formats.input.ByteInput;
import java.io.IOException;
import java.io.Reader;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/**
 * Decodes UTF-8 strictly, without a byte order mark, and limits the characters between two calls of {@link #mark}, so
 * that a missing quote does not read the whole file into memory. Not thread-safe.
 */
final class StrictReader extends Reader {
    private final ByteInput in;
    private final long limit;
    private final ByteBuffer bytes = ByteBuffer.allocate(1 << 16).limit(0);
    private final CharsetDecoder decoder =
            StandardCharsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPORT);
    private long delivered;
    private long marked;
    private boolean started;
    /** The second half of a surrogate pair for which there was space for one character, or -1. */
    private int pending = -1;

    StrictReader(ByteInput in, long limit) {
        this.in = in;
        this.limit = limit;
    }

    /** Begins a new record. */
    void mark() {
        marked = delivered;
    }

    /** Returns the number of characters that were read. */
    long delivered() {
        return delivered;
    }

    @Override
    public int read(char[] dst, int offset, int count) throws IOException {
        if (count == 0) {
            return 0;
        }
        if (delivered - marked > limit) {
            throw new DamagedFileException(in.name() + ": a record before byte " + in.position() + " is longer than "
                    + limit + " characters; check that its quotes are closed");
        }
        if (pending >= 0) {
            dst[offset] = (char) pending;
            pending = -1;
            return 1;
        }
        CharBuffer chars = CharBuffer.wrap(dst, offset, count);
        while (true) {
            CoderResult result = decoder.decode(bytes, chars, false);
            if (result.isError()) {
                throw notUtf8();
            }
            int now = chars.position() - offset;
            if (now > 0) {
                delivered += now;
                return now;
            }
            if (result.isOverflow()) {
                char[] pair = new char[2];
                decoder.decode(bytes, CharBuffer.wrap(pair), false);
                dst[offset] = pair[0];
                pending = pair[1];
                delivered += 2;
                return 1;
            }
            if (!fill()) {
                if (bytes.hasRemaining()) {
                    throw notUtf8();
                }
                return -1;
            }
        }
    }

    private DamagedFileException notUtf8() {
        return new DamagedFileException(in.name() + ": byte " + (in.position() - bytes.remaining())
                + " is not UTF-8; convert the file, for example with iconv -f WINDOWS-1252 -t UTF-8");
    }

    private boolean fill() throws IOException {
        bytes.compact();
        int read = in.read(bytes.array(), bytes.position(), bytes.remaining());
        bytes.limit(bytes.position() + read).position(0);
        if (!started) {
            started = true;
            skipMark();
        }
        return read > 0;
    }

    private void skipMark() throws UnsupportedFileException {
        if (bytes.remaining() >= 2) {
            int first = (bytes.get(0) & 0xff) << 8 | (bytes.get(1) & 0xff);
            if (first == 0xFEFF || first == 0xFFFE) {
                throw new UnsupportedFileException(
                        in.name() + " is in UTF-16; convert it, for example with iconv -f UTF-16 -t UTF-8");
            }
        }
        if (bytes.remaining() >= 3
                && (bytes.get(0) & 0xff) == 0xEF
                && (bytes.get(1) & 0xff) == 0xBB
                && (bytes.get(2) & 0xff) == 0xBF) {
            bytes.position(3);
        }
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
