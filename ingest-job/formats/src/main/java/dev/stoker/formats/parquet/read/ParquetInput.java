package dev.stoker.formats.parquet.read;

import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.formats.parquet.page.ThriftCheck;
import dev.stoker.schemas.io.RangeReader;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.Util;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a Parquet file.
 *
 * <pre>
 * magic      4  "PAR1", or "PARE" if the footer is encrypted
 * pages
 * footer     n  FileMetaData in Thrift's compact protocol
 * length     4  n
 * magic      4
 * </pre>
 */
public final class ParquetInput {
    public static final String MAGIC = "PAR1";
    public static final String ENCRYPTED_MAGIC = "PARE";

    private static final int TAIL = 8;

    /** Read at once, as most footers are shorter. */
    private static final int LAST_BYTES = 64 << 10;

    /** A parsed footer takes about this much memory for each of its bytes. */
    private static final int FOOTER_EXPANSION = 16;

    /** Local reads copy through a buffer of this size outside the heap; object stores serve it in one request. */
    private static final int READ_BYTES = 8 << 20;

    private final RangeReader file;
    private final ReadLimits limits;

    public ParquetInput(RangeReader file, ReadLimits limits) {
        this.file = file;
        this.limits = limits;
    }

    public String name() {
        return file.name();
    }

    public long length() throws IOException {
        return file.length();
    }

    FileMetaData footer() throws IOException {
        long length = file.length();
        if (length < MAGIC.length() + TAIL) {
            throw damaged("it has " + length + " bytes only, and no footer", null);
        }
        ByteBuffer end = read(length - Math.min(length, LAST_BYTES), (int) Math.min(length, LAST_BYTES));
        ByteBuffer tail = end.slice(end.limit() - TAIL, TAIL).order(ByteOrder.LITTLE_ENDIAN);
        int footerLength = tail.getInt();
        byte[] magic = new byte[4];
        tail.get(magic);
        String ending = new String(magic, StandardCharsets.ISO_8859_1);
        if (ending.equals(ENCRYPTED_MAGIC)) {
            throw encrypted("its footer is encrypted");
        }
        if (!ending.equals(MAGIC)) {
            throw damaged("it does not end with " + MAGIC + "; it was cut off, or is no Parquet file", null);
        }
        if (footerLength < 0 || footerLength > length - TAIL - MAGIC.length()) {
            throw damaged("its footer has " + footerLength + " bytes, but the file has " + length, null);
        }
        if ((long) footerLength * FOOTER_EXPANSION > limits.memoryBytes()) {
            throw new UnsupportedFileException(name() + ": its footer of " + footerLength + " bytes needs "
                    + (long) footerLength * FOOTER_EXPANSION + " bytes of memory, but the limit is "
                    + limits.memoryBytes()
                    + limits.moreMemory((long) footerLength * FOOTER_EXPANSION, "write files with fewer row groups"));
        }
        int footerFrom = end.limit() - TAIL - footerLength;
        ByteBuffer footer = footerFrom >= 0
                ? end.slice(footerFrom, footerLength)
                : read(length - TAIL - footerLength, footerLength);
        ThriftCheck.structLength(footer, name() + ": the footer");
        try {
            return Util.readFileMetaData(
                    new ByteArrayInputStream(footer.array(), footer.arrayOffset(), footerLength),
                    (int) Math.min(Integer.MAX_VALUE, Math.max(1024L, 2L * footerLength)));
        } catch (IOException | RuntimeException e) {
            throw damaged("its footer is corrupt", e);
        }
    }

    /** Reads bytes whose range the caller has checked. */
    public ByteBuffer read(long offset, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        read(offset, bytes);
        return bytes;
    }

    /** Fills a buffer with bytes whose range the caller has checked. */
    public void read(long offset, ByteBuffer bytes) throws IOException {
        int length = bytes.capacity();
        try {
            for (int done = 0; done < length; done = bytes.position()) {
                bytes.limit(done + Math.min(READ_BYTES, length - done));
                file.readFully(offset + done, bytes);
            }
        } catch (EOFException e) {
            throw damaged("it ends before byte " + (offset + length), e);
        }
        bytes.clear();
    }

    public DamagedFileException damaged(String how, @Nullable Throwable cause) {
        return new DamagedFileException(name() + " is damaged: " + how + "; restore the file from a copy", cause);
    }

    UnsupportedFileException encrypted(String what) {
        return new UnsupportedFileException(
                name() + ": " + what + ", which Stoker does not read; write the file without encryption");
    }
}
