package dev.stoker.schemas.chunk;

import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.io.BufferRangeReader;
import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Reads heads of chunks as versions have them: reads overlays and applies them, and adds the version's added fields. An
 * overlay is a file in the format of a chunk: the keys of the chunk's rows and some of its small fields, with all rows
 * in the same order. Stateless and thread-safe.
 *
 * <p>{@link ChunkReader} and {@link ColumnReader} refuse a chunk with an overlay or with added fields, so that no
 * reader can forget them.
 */
public final class OverlayReader {

    private OverlayReader() {}

    /** Opens files of overlays. */
    @FunctionalInterface
    public interface Files {
        /** Returns the file of an overlay. */
        RangeReader open(UUID overlay) throws IOException;
    }

    /** Reads the head of a chunk as {@link ChunkReader#readHead}, as the version has it. */
    public static ChunkHead readHead(RangeReader file, ChunkSummary expected, Files overlays) throws IOException {
        return apply(
                ChunkReader.readHead(file, expected.withoutOverlay()), expected.overlay(), expected.added(), overlays);
    }

    /** Checks the head of a chunk as {@link ChunkReader#headIn}, and returns it as the version has it. */
    public static ChunkHead headIn(ByteBuffer file, ChunkSummary expected, String name, Files overlays)
            throws IOException {
        return apply(
                ChunkReader.headIn(file, expected.withoutOverlay(), name),
                expected.overlay(),
                expected.added(),
                overlays);
    }

    /**
     * Returns the head of a chunk as a version has it: with the values of an overlay, and with added fields.
     *
     * @param head the chunk's own head
     * @param overlay null for a chunk without an overlay
     * @param added the fields that the version has beside those of dataset.json
     */
    public static ChunkHead apply(ChunkHead head, @Nullable ChunkOverlay overlay, AddedFields added, Files overlays)
            throws IOException {
        if (overlay == null) {
            return added.isEmpty() ? head : head.with(null, added);
        }
        return head.with(read(overlays.open(overlay.id()), overlay, head.identity()), added);
    }

    /**
     * Reads and verifies an overlay: every byte, and that it belongs to this chunk.
     *
     * @param chunk the identity of its chunk
     * @return the keys and the fields of the overlay, like a chunk
     */
    public static ChunkHead read(RangeReader file, ChunkOverlay expected, ChunkIdentity chunk) throws IOException {
        long length = file.length();
        if (length != expected.length()) {
            throw CorruptDataException.mismatch(file.name(), "file length", expected.length(), length);
        }
        ByteBuffer bytes = ChunkReader.read(file, 0, (int) length);
        int found = Crc32cs.of(bytes);
        if (found != expected.crc32c()) {
            throw CorruptDataException.mismatch(
                    file.name(), "CRC32C of the overlay", Crc32cs.hex(expected.crc32c()), Crc32cs.hex(found));
        }
        ChunkHead overlay = ChunkReader.open(new BufferRangeReader(file.name(), bytes));
        checkIdentity(overlay, expected, chunk, file.name());
        return overlay;
    }

    /**
     * Reads and verifies the overlay of a chunk whose columns are read one by one.
     *
     * @param added the fields that the version has beside those of dataset.json
     */
    public static ChunkHead read(RangeReader file, ChunkOverlay expected, ColumnReader chunk, AddedFields added)
            throws IOException {
        ChunkHead overlay = read(file, expected, chunk.identity());
        checkRows(overlay, chunk.rows(), added.in(chunk.fields()));
        return overlay;
    }

    /** Checks that an overlay has the rows of its chunk, and only small fields of the version. */
    static void checkRows(ChunkHead overlay, int rows, List<Field> fields) throws CorruptDataException {
        if (overlay.rows() != rows) {
            throw CorruptDataException.mismatch(overlay.file(), "rows", rows, overlay.rows());
        }
        for (Field field : overlay.fields()) {
            if (field.payload() || !fields.contains(field)) {
                throw CorruptDataException.mismatch(
                        overlay.file(), "its fields", "small fields of the version, " + fields, field);
            }
        }
    }

    private static void checkIdentity(ChunkHead overlay, ChunkOverlay expected, ChunkIdentity chunk, String name)
            throws StokerException {
        ChunkIdentity found = overlay.identity();
        if (!found.chunk().equals(expected.id())
                || !found.dataset().equals(chunk.dataset())
                || !found.overlaid().filter(chunk.chunk()::equals).isPresent()) {
            throw new ForeignFileException(
                    name,
                    "overlay " + expected.id() + " of chunk " + chunk.chunk() + " of dataset " + chunk.dataset(),
                    "it says that it is " + found.chunk() + " of "
                            + found.overlaid().map(id -> "chunk " + id).orElse("no chunk") + " of dataset "
                            + found.dataset());
        }
    }

    static void requireNone(ChunkSummary chunk) {
        if (chunk.overlay() != null) {
            throw new IllegalArgumentException("Chunk " + chunk.id() + " has the overlay "
                    + chunk.overlay().id() + ", but the reader does not apply it");
        }
        if (!chunk.added().isEmpty()) {
            throw new IllegalArgumentException("The version of chunk " + chunk.id() + " has the added fields "
                    + chunk.added() + ", but the reader does not add them");
        }
    }
}
