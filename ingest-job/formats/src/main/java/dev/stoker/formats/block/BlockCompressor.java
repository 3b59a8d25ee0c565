package dev.stoker.formats.block;

import com.github.luben.zstd.Zstd;
import io.airlift.compress.snappy.SnappyCompressor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.zip.GZIPOutputStream;

/** Compresses blocks in memory. Thread-safe. */
public enum BlockCompressor {
    NONE,
    /** Without frames. */
    SNAPPY,
    GZIP,
    ZSTD;

    /** The level that is about as fast as a disk writes. */
    private static final int ZSTD_LEVEL = 1;

    /** Returns the compressed block; the same array if nothing is compressed. */
    public byte[] compress(byte[] block) throws IOException {
        return switch (this) {
            case NONE -> block;
            case SNAPPY -> {
                SnappyCompressor compressor = new SnappyCompressor();
                byte[] target = new byte[compressor.maxCompressedLength(block.length)];
                int length = compressor.compress(block, 0, block.length, target, 0, target.length);
                yield Arrays.copyOf(target, length);
            }
            case GZIP -> {
                ByteArrayOutputStream target = new ByteArrayOutputStream(block.length / 2 + 64);
                try (GZIPOutputStream gzip = new GZIPOutputStream(target)) {
                    gzip.write(block);
                }
                yield target.toByteArray();
            }
            case ZSTD -> Zstd.compress(block, ZSTD_LEVEL);
        };
    }
}
