package dev.stoker.formats.avro;

import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.formats.block.BlockCodec;
import dev.stoker.formats.block.TooLargeException;
import dev.stoker.schemas.io.RangeReader;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of an Avro container file. For one thread.
 *
 * <pre>
 * magic     4  "Obj" 1
 * metadata     a map of bytes: avro.schema, avro.codec
 * sync      16 random bytes
 * blocks:
 *   count      a long: the number of records
 *   size       a long: the bytes that follow, compressed
 *   records
 *   sync    16
 * </pre>
 */
final class AvroContainer {
    static final String MAGIC = "Obj\u0001";
    static final int SYNC = 16;

    private static final int WINDOW = 1 << 20;
    private static final int MAX_PREFIX = 20;
    /** A header that does not end before is corrupt, whatever memory there is. */
    private static final long PLAUSIBLE_HEADER = 16 << 20;

    private static final long MIB = 1 << 20;

    private final RangeReader file;
    private final ReadLimits limits;
    private final long length;
    private final Map<String, byte[]> metadata = new HashMap<>();
    private final byte[] sync = new byte[SYNC];
    private final String codec;
    private final long firstSync;

    /** Bytes of the file from {@code windowFrom} on. */
    private byte[] window = new byte[0];

    private long windowFrom;

    AvroContainer(RangeReader file, ReadLimits limits) throws IOException {
        this.file = file;
        this.limits = limits;
        length = file.length();
        firstSync = header();
        byte[] name = metadata.get("avro.codec");
        codec = name == null ? "null" : new String(name, StandardCharsets.UTF_8);
    }

    /**
     * A block.
     *
     * @param offset where it begins
     * @param end where the marker behind it ends
     * @param count number of records
     * @param records the decompressed records
     */
    record Block(long offset, long end, long count, AvroBytes records) {}

    long length() {
        return length;
    }

    /** Returns where the marker of the header begins. */
    long firstSync() {
        return firstSync;
    }

    String schema() throws DamagedFileException {
        byte[] text = metadata.get("avro.schema");
        if (text == null) {
            throw damaged("its header has no schema", null);
        }
        return new String(text, StandardCharsets.UTF_8);
    }

    private long header() throws IOException {
        long max = Math.min(length, limits.memoryBytes() / 8);
        int bytes = (int) Math.min(max, WINDOW);
        while (true) {
            ensure(0, bytes);
            AvroBytes in = new AvroBytes(window, 0, bytes);
            try {
                return header(in);
            } catch (DamagedFileException e) {
                throw e;
            } catch (IOException e) {
                if (bytes == max && max < Math.min(length, PLAUSIBLE_HEADER)) {
                    throw new UnsupportedFileException(file.name() + ": its header of more than " + max
                            + " bytes needs more than the limit of " + limits.memoryBytes() + " bytes of memory"
                            + limits.moreMemory(16 * max, "write the file with a smaller schema"));
                }
                if (bytes == max) {
                    throw damaged("its header is corrupt" + DamagedFileException.reason(e), e);
                }
                metadata.clear();
                bytes = (int) Math.min(max, bytes * 2L);
            }
        }
    }

    private long header(AvroBytes in) throws IOException {
        int magic = in.skip(MAGIC.length());
        if (!new String(window, magic, MAGIC.length(), StandardCharsets.ISO_8859_1).equals(MAGIC)) {
            throw damaged("it does not begin as an Avro file", null);
        }
        for (long count = in.readLong(); count != 0; count = in.readLong()) {
            if (count < 0) {
                in.readLong();
                count = -count;
            }
            if (count < 0 || count > in.remaining()) {
                throw damaged("its header declares " + count + " entries", null);
            }
            for (long i = 0; i < count; i++) {
                int key = in.skipBytes();
                String name = new String(window, key, in.position() - key, StandardCharsets.UTF_8);
                int value = in.skipBytes();
                metadata.put(name, Arrays.copyOfRange(window, value, in.position()));
            }
        }
        int at = in.skip(SYNC);
        System.arraycopy(window, at, sync, 0, SYNC);
        return at;
    }

    /** Makes the bytes of a range available in the window, and returns the index of the first one. */
    private int ensure(long from, int count) throws IOException {
        if (from < windowFrom || from + count > windowFrom + window.length) {
            int size = (int) Math.min(length - from, Math.max(count, WINDOW));
            ByteBuffer bytes = ByteBuffer.allocate(size);
            try {
                file.readFully(from, bytes);
            } catch (EOFException e) {
                throw damaged("it ends before byte " + (from + size), e);
            }
            window = bytes.array();
            windowFrom = from;
        }
        return (int) (from - windowFrom);
    }

    /** Returns where the first marker at or after an offset and before another one begins, or -1. */
    long findSync(long from, long before) throws IOException {
        for (long at = from; at < before && at + SYNC <= length; ) {
            int count = (int) Math.min(WINDOW, length - at);
            int index = ensure(at, count);
            for (int i = 0; i + SYNC <= count && at + i < before; i++) {
                if (window[index + i] == sync[0] && Arrays.equals(window, index + i, index + i + SYNC, sync, 0, SYNC)) {
                    return at + i;
                }
            }
            at += count - SYNC + 1;
        }
        return -1;
    }

    /** Reads the block at an offset. Returns null at the end of the file. */
    @Nullable
    Block block(long offset) throws IOException {
        if (offset == length) {
            return null;
        }
        int prefix = (int) Math.min(MAX_PREFIX, length - offset);
        int index = ensure(offset, prefix);
        AvroBytes in = new AvroBytes(window, index, index + prefix);
        long count;
        long size;
        try {
            count = in.readLong();
            size = in.readLong();
        } catch (IOException e) {
            throw damaged("the block at byte " + offset + " is corrupt", e);
        }
        long from = offset + in.position() - index;
        if (count < 0 || size < 0 || size > length - from - SYNC) {
            throw damaged(
                    "the block at byte " + offset + " declares " + count + " records in " + size + " bytes, but "
                            + (length - from) + " follow",
                    null);
        }
        if (size > limits.memoryBytes() / 2 || size > Integer.MAX_VALUE - WINDOW) {
            throw tooLarge(offset, size);
        }
        int at = ensure(from, (int) size + SYNC);
        if (!Arrays.equals(window, at + (int) size, at + (int) size + SYNC, sync, 0, SYNC)) {
            throw damaged("the block at byte " + offset + " does not end with the marker of the file", null);
        }
        return new Block(offset, from + size + SYNC, count, records(offset, at, (int) size));
    }

    private AvroBytes records(long offset, int at, int size) throws IOException {
        ByteBuffer stored = ByteBuffer.wrap(window, at, size);
        long max = Math.min(limits.memoryBytes() / 2, Math.max(MIB, (long) size * limits.expansion()));
        max = Math.min(max, Integer.MAX_VALUE - 16);
        try {
            byte[] records = switch (codec) {
                case "null" -> null;
                case "deflate" -> BlockCodec.DEFLATE.decompressUpTo(stored, max);
                case "snappy" -> snappy(stored, max);
                case "zstandard" -> BlockCodec.ZSTD.decompressUpTo(stored, max);
                case "bzip2" -> BlockCodec.BZIP2.decompressUpTo(stored, max);
                case "xz" -> BlockCodec.XZ.decompressUpTo(stored, max);
                default ->
                    throw new UnsupportedFileException(file.name() + " has compression '" + codec
                            + "', which Stoker does not read; write the file again with zstandard");
            };
            return records == null ? new AvroBytes(window, at, at + size) : new AvroBytes(records, 0, records.length);
        } catch (UnsupportedFileException e) {
            throw e;
        } catch (TooLargeException e) {
            if (max < limits.memoryBytes() / 2) {
                throw damaged("the block at byte " + offset + " is corrupt" + DamagedFileException.reason(e), e);
            }
            throw new UnsupportedFileException(file.name() + ": the block at byte " + offset + " needs more than "
                    + limits.memoryBytes() + " bytes of memory, which is the limit"
                    + limits.moreMemory(4 * max, "write the file with smaller blocks"));
        } catch (IOException | RuntimeException e) {
            throw damaged("the block at byte " + offset + " is corrupt" + DamagedFileException.reason(e), e);
        }
    }

    /** Behind the compressed bytes is the CRC-32 of the records. */
    private static byte[] snappy(ByteBuffer stored, long max) throws IOException {
        if (stored.remaining() < Integer.BYTES) {
            throw new IOException("its checksum is missing");
        }
        int expected = stored.getInt(stored.limit() - Integer.BYTES);
        byte[] records =
                BlockCodec.SNAPPY.decompressUpTo(stored.duplicate().limit(stored.limit() - Integer.BYTES), max);
        CRC32 crc = new CRC32();
        crc.update(records);
        if ((int) crc.getValue() != expected) {
            throw new IOException("its checksum does not match");
        }
        return records;
    }

    private UnsupportedFileException tooLarge(long offset, long size) {
        // An array holds no more.
        boolean isReadable = size <= Integer.MAX_VALUE - WINDOW;
        return new UnsupportedFileException(file.name() + ": the block at byte " + offset + " needs " + 2 * size
                + " bytes of memory, but the limit is "
                + (isReadable ? limits.memoryBytes() : 2L * (Integer.MAX_VALUE - WINDOW))
                + limits.moreMemory(isReadable ? 2 * size : -1, "write the file with smaller blocks"));
    }

    DamagedFileException damaged(String how, @Nullable Throwable cause) {
        return new DamagedFileException(file.name() + " is damaged: " + how + "; restore the file from a copy", cause);
    }
}
