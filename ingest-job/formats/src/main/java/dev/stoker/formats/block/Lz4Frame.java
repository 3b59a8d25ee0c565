package dev.stoker.formats.block;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Decompresses LZ4 frames, in which a block may repeat bytes of the blocks before it. */
final class Lz4Frame {
    private static final int MAGIC = 0x184D2204;
    private static final int BLOCK_CHECKSUM = 0x10;
    private static final int CONTENT_SIZE = 0x08;
    private static final int CONTENT_CHECKSUM = 0x04;
    private static final int DICTIONARY_ID = 0x01;
    private static final int UNCOMPRESSED = 1 << 31;
    private static final int MIN_MATCH = 4;

    private Lz4Frame() {}

    /** Returns the number of bytes written. Throws IndexOutOfBoundsException if either side ends too early. */
    static int decompress(ByteBuffer frame, byte[] dst) throws IOException {
        ByteBuffer in = frame.slice().order(ByteOrder.LITTLE_ENDIAN);
        int written = 0;
        while (in.hasRemaining()) {
            if (in.remaining() < 7 || in.getInt() != MAGIC) {
                throw new IOException("its LZ4 frame begins with a wrong number");
            }
            int flags = in.get();
            int skipped = 2 + ((flags & CONTENT_SIZE) != 0 ? 8 : 0) + ((flags & DICTIONARY_ID) != 0 ? 4 : 0);
            skip(in, skipped);
            written = blocks(in, flags, dst, written);
            if ((flags & CONTENT_CHECKSUM) != 0) {
                skip(in, 4);
            }
        }
        return written;
    }

    private static int blocks(ByteBuffer in, int flags, byte[] dst, int start) throws IOException {
        int written = start;
        while (true) {
            if (in.remaining() < 4) {
                throw new IOException("its LZ4 frame has no end");
            }
            int header = in.getInt();
            if (header == 0) {
                return written;
            }
            int length = header & ~UNCOMPRESSED;
            if (length > in.remaining()) {
                throw new IOException("its LZ4 frame ends inside a block");
            }
            if ((header & UNCOMPRESSED) != 0) {
                if (length > dst.length - written) {
                    throw new IOException("its LZ4 data has more than " + dst.length + " bytes");
                }
                in.get(dst, written, length);
                written += length;
            } else {
                byte[] src = in.array();
                int at = in.arrayOffset() + in.position();
                written = block(src, at, at + length, dst, written);
                in.position(in.position() + length);
            }
            if ((flags & BLOCK_CHECKSUM) != 0) {
                skip(in, 4);
            }
        }
    }

    private static void skip(ByteBuffer in, int bytes) throws IOException {
        if (bytes > in.remaining()) {
            throw new IOException("its LZ4 frame ends too early");
        }
        in.position(in.position() + bytes);
    }

    private static int block(byte[] src, int from, int end, byte[] dst, int start) throws IOException {
        int in = from;
        int out = start;
        while (in < end) {
            int token = src[in++] & 0xff;
            int literals = token >>> 4;
            if (literals == 15) {
                int more;
                do {
                    more = src[in++] & 0xff;
                    literals += more;
                } while (more == 255);
            }
            if (literals > end - in || literals > dst.length - out || literals < 0) {
                throw new IOException("its LZ4 data is corrupt: a literal is too long");
            }
            System.arraycopy(src, in, dst, out, literals);
            in += literals;
            out += literals;
            if (in >= end) {
                return out;
            }
            int distance = (src[in] & 0xff) | (src[in + 1] & 0xff) << 8;
            in += 2;
            int length = token & 15;
            if (length == 15) {
                int more;
                do {
                    more = src[in++] & 0xff;
                    length += more;
                } while (more == 255);
            }
            length += MIN_MATCH;
            if (distance == 0 || distance > out || length > dst.length - out || length < 0) {
                throw new IOException("its LZ4 data is corrupt: a match is out of bounds");
            }
            copyMatch(dst, out, distance, length);
            out += length;
        }
        return out;
    }

    private static void copyMatch(byte[] dst, int out, int distance, int length) {
        if (distance >= length) {
            System.arraycopy(dst, out - distance, dst, out, length);
        } else {
            for (int i = 0; i < length; i++) {
                dst[out + i] = dst[out - distance + i];
            }
        }
    }
}
