package dev.stoker.formats.block;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdException;
import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import dev.stoker.formats.DamagedFileException;
import io.airlift.compress.MalformedInputException;
import io.airlift.compress.lz4.Lz4Decompressor;
import io.airlift.compress.snappy.SnappyDecompressor;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.GZIPInputStream;
import java.util.zip.Inflater;
import java.util.zip.InflaterInputStream;
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorInputStream;
import org.tukaani.xz.XZInputStream;

/** Decompresses blocks that are in memory. Never writes more than the caller allows. Thread-safe. */
@SuppressWarnings("ByteBufferBackingArray") // start() adds the offset.
public enum BlockCodec {
    /** Snappy without frames. */
    SNAPPY,
    /** LZ4 without frames. */
    LZ4,
    /** LZ4 with frames, checksums not verified. */
    LZ4_FRAME,
    ZSTD,
    GZIP,
    /** Deflate without a header, as in Avro. */
    DEFLATE,
    BZIP2,
    XZ;

    private static final int XZ_MEMORY_KIB = 256 << 10;

    /**
     * Decompresses a block of known size.
     *
     * @param src the block: from the position to the limit; has an array
     * @param size bytes that it must decompress to
     * @throws IOException if it is corrupt, or decompresses to more or less; the message is a clause
     */
    public byte[] decompress(ByteBuffer src, int size) throws IOException {
        byte[] dst = new byte[size];
        decompress(src, dst, size);
        return dst;
    }

    /**
     * Decompresses a block of known size into an array.
     *
     * @param src the block: from the position to the limit; has an array
     * @param dst takes the bytes from index 0 on; bytes behind them may change
     * @param size bytes that it must decompress to, at most the length of the array
     * @throws IOException if it is corrupt, or decompresses to more or less; the message is a clause
     */
    public void decompress(ByteBuffer src, byte[] dst, int size) throws IOException {
        int written;
        try {
            written = switch (this) {
                case SNAPPY -> snappy(src, dst, size);
                case LZ4 -> new Lz4Decompressor().decompress(src.array(), start(src), src.remaining(), dst, 0, size);
                case LZ4_FRAME -> Lz4Frame.decompress(src, dst);
                case ZSTD -> (int) Zstd.decompressByteArray(dst, 0, size, src.array(), start(src), src.remaining());
                case GZIP, DEFLATE, BZIP2, XZ -> stream(src, dst, size);
            };
        } catch (EOFException e) {
            throw tooShort(e);
        } catch (MalformedInputException | ZstdException | IndexOutOfBoundsException | IllegalArgumentException e) {
            throw new IOException("its " + label() + " data is corrupt" + DamagedFileException.reason(e), e);
        }
        if (written != size) {
            throw new IOException("its " + label() + " data has " + written + " bytes instead of " + size);
        }
    }

    /**
     * Decompresses a block of unknown size.
     *
     * @param src the block: from the position to the limit; has an array
     * @param max bytes that it may decompress to
     * @throws TooLargeException if it is larger; the message is a clause
     * @throws IOException if it is corrupt; the message is a clause
     */
    public byte[] decompressUpTo(ByteBuffer src, long max) throws IOException {
        if (this == SNAPPY) {
            int size = SnappyDecompressor.getUncompressedLength(src.array(), start(src));
            if (size < 0 || size > max) {
                throw tooLarge(max);
            }
            return decompress(src, size);
        }
        byte[] dst = new byte[(int) Math.min(max, Math.max(64, src.remaining() * 4L))];
        int filled = 0;
        try (InputStream in = open(src)) {
            while (true) {
                int n = in.readNBytes(dst, filled, dst.length - filled);
                filled += n;
                if (filled < dst.length) {
                    return Arrays.copyOf(dst, filled);
                }
                int next = in.read();
                if (next < 0) {
                    return dst;
                }
                if (dst.length >= max) {
                    throw tooLarge(max);
                }
                dst = Arrays.copyOf(dst, (int) Math.min(max, Math.max(64, dst.length * 2L)));
                dst[filled++] = (byte) next;
            }
        } catch (EOFException e) {
            throw tooShort(e);
        } catch (ZstdException | IndexOutOfBoundsException | IllegalArgumentException e) {
            throw new IOException("its " + label() + " data is corrupt" + DamagedFileException.reason(e), e);
        }
    }

    private IOException tooShort(EOFException e) {
        return new IOException("its " + label() + " data ends too early", e);
    }

    private TooLargeException tooLarge(long max) {
        return new TooLargeException("its " + label() + " data has more than " + max + " bytes, which is the limit");
    }

    private static int snappy(ByteBuffer src, byte[] dst, int size) throws IOException {
        int declared = SnappyDecompressor.getUncompressedLength(src.array(), start(src));
        if (declared != size) {
            throw new IOException("its Snappy data declares " + declared + " bytes instead of " + size);
        }
        return new SnappyDecompressor().decompress(src.array(), start(src), src.remaining(), dst, 0, size);
    }

    private int stream(ByteBuffer src, byte[] dst, int size) throws IOException {
        try (InputStream in = open(src)) {
            int n = in.readNBytes(dst, 0, size);
            if (n == size && in.read() >= 0) {
                throw new IOException("its " + label() + " data has more than " + n + " bytes");
            }
            return n;
        }
    }

    private InputStream open(ByteBuffer src) throws IOException {
        InputStream in = new ByteArrayInputStream(src.array(), start(src), src.remaining());
        return switch (this) {
            case GZIP -> new GZIPInputStream(in);
            case DEFLATE ->
                new InflaterInputStream(in, new Inflater(true)) {
                    @Override
                    public void close() throws IOException {
                        inf.end();
                        super.close();
                    }
                };
            case ZSTD -> new ZstdInputStreamNoFinalizer(in);
            case BZIP2 -> new BZip2CompressorInputStream(in, true);
            case XZ -> new XZInputStream(in, XZ_MEMORY_KIB);
            case SNAPPY, LZ4, LZ4_FRAME -> throw new IllegalStateException(name());
        };
    }

    private static int start(ByteBuffer src) {
        return src.arrayOffset() + src.position();
    }

    private String label() {
        return switch (this) {
            case SNAPPY -> "Snappy";
            case LZ4, LZ4_FRAME -> "LZ4";
            case ZSTD -> "Zstandard";
            case GZIP -> "gzip";
            case DEFLATE -> "deflate";
            case BZIP2 -> "bzip2";
            case XZ -> "xz";
        };
    }
}
