package dev.stoker.formats.input;

import com.github.luben.zstd.ZstdIOException;
import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.ZipException;

/**
 * Decompresses a file and ends with a {@link DamagedFileException} when it grows beyond the limit for decompressed
 * bytes per compressed byte. Not thread-safe.
 */
final class DecompressedInput extends InputStream {
    private static final long FREE = 1 << 20;
    /** 128 MiB, what the command zstd accepts without options. */
    private static final int MAX_WINDOW_LOG = 27;

    private final String name;
    private final Compression compression;
    private final RangeInput compressed;
    private final InputStream in;
    private final ReadLimits limits;
    private long produced;

    DecompressedInput(RangeReader file, Compression compression, ReadLimits limits) throws IOException {
        this.name = file.name();
        this.compression = compression;
        this.limits = limits;
        this.compressed = new RangeInput(file, 0);
        this.in = open();
    }

    private InputStream open() throws IOException {
        try {
            if (compression == Compression.GZIP) {
                return new GzipInput(compressed);
            }
            ZstdInputStreamNoFinalizer zstd = new ZstdInputStreamNoFinalizer(compressed);
            zstd.setLongMax(MAX_WINDOW_LOG);
            return zstd;
        } catch (ZipException | ZstdIOException e) {
            throw damaged(e);
        }
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] dst, int offset, int count) throws IOException {
        try {
            int now = in.read(dst, offset, count);
            produced += Math.max(0, now);
            if (produced > FREE && produced - FREE > limits.expansion() * compressed.position()) {
                throw new DamagedFileException(name + " decompresses " + compressed.position() + " bytes to more than "
                        + produced + ", over the limit of " + limits.expansion()
                        + " to 1; decompress it with a tool of your own if you trust it");
            }
            return now;
        } catch (ZipException | ZstdIOException e) {
            throw damaged(e);
        }
    }

    private DamagedFileException damaged(IOException cause) {
        String what =
                compression == Compression.GZIP ? cause.getMessage() : "zstd data is damaged: " + cause.getMessage();
        return new DamagedFileException(
                name + " is damaged before byte " + compressed.position() + ": " + what
                        + "; restore the file from a copy",
                cause);
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
