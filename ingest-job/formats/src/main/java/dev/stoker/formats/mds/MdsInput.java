package dev.stoker.formats.mds;

import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.formats.input.ByteInput;
import dev.stoker.schemas.io.RangeReader;
import io.airlift.compress.MalformedInputException;
import io.airlift.compress.snappy.SnappyDecompressor;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** Opens a shard, decompressed. */
final class MdsInput {
    /** Snappy copies at most 64 bytes with an element of 2. */
    private static final int SNAPPY_RATIO = 32;

    private MdsInput() {}

    static ByteInput open(RangeReader file, ReadLimits limits) throws IOException {
        for (String unknown : List.of("br", "bz2")) {
            if (file.name().endsWith(".mds." + unknown)) {
                throw new UnsupportedFileException(file.name() + " is compressed with " + unknown
                        + ", which cannot be read; decompress it, or write the shards with zstd");
            }
        }
        return file.name().endsWith(".mds.snappy")
                ? snappy(file, limits)
                : ByteInput.open(file, ByteInput.compressionOf(file), limits);
    }

    private static ByteInput snappy(RangeReader file, ReadLimits limits) throws IOException {
        long length = file.length();
        if (length > Math.min(limits.memoryBytes(), Integer.MAX_VALUE - 64)) {
            throw tooLarge(file, length, limits);
        }
        byte[] compressed = new byte[(int) length];
        file.readFully(0, ByteBuffer.wrap(compressed));
        try {
            int size = SnappyDecompressor.getUncompressedLength(compressed, 0);
            if (size < 0 || size > SNAPPY_RATIO * length + 64) {
                throw new DamagedFileException(file.name() + " is damaged: " + length + " bytes of snappy cannot hold "
                        + size + "; restore the file from a copy");
            }
            if (size > limits.memoryBytes()) {
                throw tooLarge(file, size, limits);
            }
            byte[] bytes = new byte[size];
            int written = new SnappyDecompressor().decompress(compressed, 0, compressed.length, bytes, 0, size);
            return ByteInput.of(file.name(), new ByteArrayInputStream(bytes, 0, written));
        } catch (MalformedInputException | IndexOutOfBoundsException | IllegalArgumentException e) {
            throw new DamagedFileException(
                    file.name() + " is damaged: it is not snappy; restore the file from a copy", e);
        }
    }

    private static UnsupportedFileException tooLarge(RangeReader file, long bytes, ReadLimits limits) {
        return new UnsupportedFileException(file.name() + " needs " + bytes
                + " bytes of memory, as snappy is decompressed at once; the limit is " + limits.memoryBytes());
    }
}
