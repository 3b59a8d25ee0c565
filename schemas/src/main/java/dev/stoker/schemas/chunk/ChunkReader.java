package dev.stoker.schemas.chunk;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.ArrowFooter;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Reads chunks with ranged reads. Stateless and thread-safe.
 *
 * <pre>
 * ARROW1 00 00 | schema message | record batch message: head, small buffers | payload data | tail
 * '------------------- head, its CRC32C in the footer and in the log -------'  sums in     equals what follows
 *                                                                              the head    from the head
 * </pre>
 */
public final class ChunkReader {
    static final String HEAD_LENGTH = "stoker.head_length";
    static final String HEAD_CRC = "stoker.head_crc32c";

    /** Bytes of the magic and its padding at the beginning of a file. */
    private static final int MAGIC_BYTES = 8;

    /** Length from which on a head takes longer to read than the four requests of a {@link ColumnReader}. */
    private static final int LONG_HEAD = 4 << 20;

    private ChunkReader() {}

    /**
     * Reads the head into its own memory and checks it against the log or the chunk table: length of the file, checksum
     * of the head, id and rows.
     *
     * @throws IllegalArgumentException if the chunk has an overlay: see {@link OverlayReader}
     */
    public static ChunkHead readHead(RangeReader file, ChunkSummary expected) throws IOException {
        OverlayReader.requireNone(expected);
        long length = file.length();
        if (length != expected.length()) {
            throw CorruptDataException.mismatch(file.name(), "file length", expected.length(), length);
        }
        ByteBuffer head = readHead(file, expected.headLength(), expected.headCrc32c());
        ChunkHead chunk = ChunkHead.parse(head, length, file.name());
        checkIdentity(chunk.identity(), chunk.rows(), expected, file.name());
        return chunk;
    }

    /**
     * Checks the head of a chunk that is in memory against the log or the chunk table, without copying it.
     *
     * @param file the whole file from index 0 to the limit; must not change
     * @param name the file's name for messages
     * @throws IllegalArgumentException if the chunk has an overlay: see {@link OverlayReader}
     */
    public static ChunkHead headIn(ByteBuffer file, ChunkSummary expected, String name) throws StokerException {
        OverlayReader.requireNone(expected);
        if (file.limit() != expected.length()) {
            throw CorruptDataException.mismatch(name, "file length", expected.length(), file.limit());
        }
        ByteBuffer head = file.slice(0, Math.toIntExact(expected.headLength()));
        int found = Crc32cs.of(head.duplicate());
        if (found != expected.headCrc32c()) {
            throw CorruptDataException.mismatch(
                    name, "CRC32C of the head", Crc32cs.hex(expected.headCrc32c()), Crc32cs.hex(found));
        }
        ChunkHead chunk = ChunkHead.parse(head, expected.length(), name);
        checkIdentity(chunk.identity(), chunk.rows(), expected, name);
        return chunk;
    }

    /**
     * Reads the keys of a chunk, checked against the log or the chunk table. Reads the whole head if it is short, and
     * only the column otherwise.
     */
    public static ArrowColumn readKeys(RangeReader file, ChunkSummary expected) throws IOException {
        // An overlay has no other keys.
        ChunkSummary chunk = expected.withoutOverlay();
        return chunk.headLength() < LONG_HEAD
                ? readHead(file, chunk).keys()
                : ColumnReader.open(file, chunk).keys();
    }

    static void checkIdentity(ChunkIdentity identity, int rows, ChunkSummary expected, String name)
            throws StokerException {
        if (identity.overlaid().isPresent()) {
            throw new ForeignFileException(
                    name,
                    "chunk " + expected.id(),
                    "it says that it is an overlay of chunk "
                            + identity.overlaid().get());
        }
        if (!identity.chunk().equals(expected.id())) {
            throw new ForeignFileException(
                    name, "chunk " + expected.id(), "it says that it is chunk " + identity.chunk());
        }
        if (rows != expected.rows() || !identity.split().equals(expected.split())) {
            throw CorruptDataException.mismatch(
                    name,
                    "rows and split",
                    expected.rows() + " of " + expected.split(),
                    rows + " of " + identity.split());
        }
    }

    /** Reads the footer of a chunk that the log knows. Checks that the file and its head have the right lengths. */
    static ArrowFooter readFooter(RangeReader file, ChunkSummary expected) throws IOException {
        long length = file.length();
        if (length != expected.length()) {
            throw CorruptDataException.mismatch(file.name(), "file length", expected.length(), length);
        }
        ArrowFooter footer = ArrowFooter.read(readTail(file, length), file.name());
        long headLength = headLength(footer, length, file.name());
        if (headLength != expected.headLength()) {
            throw CorruptDataException.mismatch(file.name(), HEAD_LENGTH, expected.headLength(), headLength);
        }
        return footer;
    }

    private static ByteBuffer readTail(RangeReader file, long length) throws IOException {
        ByteBuffer ending = read(file, length - ArrowFooter.ENDING, ArrowFooter.ENDING);
        int tailLength = ArrowFooter.tailLength(ending, length, file.name());
        return read(file, length - tailLength, tailLength);
    }

    /**
     * Reads the head of an unknown chunk. Its length and checksum are in the footer. Head and footer are intact if the
     * call succeeds; the payload is not checked.
     */
    public static ChunkHead open(RangeReader file) throws IOException {
        return openFile(file).head();
    }

    /**
     * Verifies every byte of a chunk against the chunk's own data: head, all samples, padding and footer.
     *
     * @return the values for the log
     */
    public static ChunkSummary verify(RangeReader file) throws IOException {
        return new ChunkVerification(file, openFile(file)).run();
    }

    /** Verifies one sample's payload fields. An exception names chunk, row and key. */
    public static void verifySample(ChunkHead head, RangeReader file, int row) throws IOException {
        ChunkVerification.checkSample(head, file, row);
    }

    /**
     * Contains a chunk that was opened without a log.
     *
     * @param head the verified head
     * @param headBytes its bytes
     * @param headCrc32c checksum of the head
     * @param tail all bytes after the body, verified
     */
    record Opened(ChunkHead head, ByteBuffer headBytes, int headCrc32c, ByteBuffer tail) {}

    static Map<String, String> footerMetadata(long headLength, int headCrc32c, String checksums) {
        Map<String, String> metadata = new LinkedHashMap<>();
        metadata.put(HEAD_LENGTH, String.valueOf(headLength));
        metadata.put(HEAD_CRC, Crc32cs.hex(headCrc32c));
        metadata.put(HeadChecksums.KEY, checksums);
        return Collections.unmodifiableMap(metadata);
    }

    private static Opened openFile(RangeReader file) throws IOException {
        String name = file.name();
        long length = file.length();
        checkLength(name, length);
        checkMagic(name, read(file, 0, MAGIC_BYTES));
        return open(file, readTail(file, length));
    }

    /** Opens a chunk whose end was read. Reads the head. */
    static Opened open(RangeReader file, ByteBuffer tail) throws IOException {
        String name = file.name();
        long length = file.length();
        int tailLength = tail.limit();
        ArrowFooter footer = ArrowFooter.read(tail, name);
        long headLength = headLength(footer, length - tailLength, name);
        int headCrc = headCrc(footer, name);
        ByteBuffer headBytes = readHead(file, headLength, headCrc);
        ChunkHead head = ChunkHead.parse(headBytes, length - tailLength, name);
        String checksums = HeadChecksums.of(headBytes, head.arrow().parts()).text();
        byte[] expected = head.arrow()
                .footer(footerMetadata(headLength, headCrc, checksums))
                .tail();
        if (!tail.equals(ByteBuffer.wrap(expected))) {
            throw CorruptDataException.mismatch(
                    name, "footer", "the footer for this head", "another one, perhaps not written by Stoker");
        }
        long end = head.arrow().bodyPosition() + head.arrow().bodyLength();
        if (end != length - tailLength) {
            throw CorruptDataException.mismatch(name, "end of the body", length - tailLength, end);
        }
        return new Opened(head, headBytes, headCrc, tail);
    }

    static void checkLength(String name, long length) throws CorruptDataException {
        int least = MAGIC_BYTES + ArrowFooter.ENDING;
        if (length < least || length > Integer.MAX_VALUE) {
            throw CorruptDataException.mismatch(
                    name, "file length", least + " to " + Integer.MAX_VALUE + " bytes", length);
        }
    }

    /** @param beginning at least the first {@link #MAGIC_BYTES} of the file */
    static void checkMagic(String name, ByteBuffer beginning) throws ForeignFileException {
        if (beginning.getLong(0) != 0x4152524F57310000L) {
            throw new ForeignFileException(name, "a chunk", "it does not begin with ARROW1");
        }
    }

    private static ByteBuffer readHead(RangeReader file, long headLength, int headCrc) throws IOException {
        if (headLength < 1 || headLength > file.length()) {
            throw CorruptDataException.mismatch(
                    file.name(), "head length", "at most " + file.length() + " bytes", headLength);
        }
        ByteBuffer head = read(file, 0, (int) headLength);
        int found = Crc32cs.of(head);
        if (found != headCrc) {
            throw CorruptDataException.mismatch(
                    file.name(), "CRC32C of the head", Crc32cs.hex(headCrc), Crc32cs.hex(found));
        }
        return head;
    }

    private static long headLength(ArrowFooter footer, long limit, String name) throws StokerException {
        String text = footer.metadata().get(HEAD_LENGTH);
        if (text == null) {
            throw new ForeignFileException(name, "a chunk", "its footer has no " + HEAD_LENGTH);
        }
        if (!text.matches("[1-9][0-9]{0,9}") || Long.parseLong(text) > limit) {
            throw CorruptDataException.mismatch(name, HEAD_LENGTH, "1 to " + limit, text);
        }
        return Long.parseLong(text);
    }

    private static int headCrc(ArrowFooter footer, String name) throws StokerException {
        String text = footer.metadata().get(HEAD_CRC);
        if (text == null || !text.matches("[0-9a-f]{8}")) {
            throw CorruptDataException.mismatch(name, HEAD_CRC, "8 hexadecimal digits", text);
        }
        return Integer.parseUnsignedInt(text, 16);
    }

    static ByteBuffer read(RangeReader file, long offset, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length);
        file.readFully(offset, bytes);
        return bytes.flip();
    }
}
