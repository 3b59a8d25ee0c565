package dev.stoker.schemas.ledger;

import dev.stoker.schemas.avro.AvroHeader;
import dev.stoker.schemas.avro.AvroInput;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.features.Requires;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Reads one ledger file strictly: checks every byte and the CRC of each record, and reports a file without its end
 * record as truncated. Not thread-safe. Keeps one block in memory. The caller closes the stream.
 */
public final class LedgerReader {

    private static final String KIND = "a Stoker ledger file";

    /** Maximum length of the header in any version. */
    private static final int MAX_HEADER_BYTES = 1 << 20;

    private final InputStream in;
    private final String file;
    private final byte[] sync;
    private byte[] block = new byte[0];
    private AvroInput records;
    private @Nullable UUID part;
    private long left;
    private long read;
    private boolean ended;

    /**
     * Reads the header.
     *
     * @param in buffered stream from the first byte of the file
     * @param file the file's name as the user knows it
     * @throws ForeignFileException if it is not a ledger
     * @throws FormatTooNewException if a newer Stoker wrote it
     * @throws CorruptDataException if it is damaged
     */
    public LedgerReader(InputStream in, String file) throws IOException {
        this.in = in;
        this.file = file;
        this.records = new AvroInput(block, 0, 0, file);
        byte[] magic = in.readNBytes(AvroHeader.magic().length);
        if (magic.length < AvroHeader.magic().length) {
            throw truncated();
        }
        if (!Arrays.equals(magic, AvroHeader.magic())) {
            throw new ForeignFileException(file, KIND, "it starts differently");
        }
        this.sync = readHeader();
    }

    private byte[] readHeader() throws IOException {
        byte[] known = LedgerFormat.header(new byte[AvroHeader.SYNC_LENGTH]);
        int metadataLength = known.length - AvroHeader.magic().length - AvroHeader.SYNC_LENGTH;
        byte[] metadata = in.readNBytes(metadataLength);
        int offset = AvroHeader.magic().length;
        if (Arrays.equals(metadata, 0, metadata.length, known, offset, offset + metadataLength)) {
            byte[] marker = in.readNBytes(AvroHeader.SYNC_LENGTH);
            if (marker.length < AvroHeader.SYNC_LENGTH) {
                throw truncated();
            }
            return marker;
        }
        throw otherHeader(metadata);
    }

    /** Distinguishes a newer file from a damaged or foreign one. */
    private IOException otherHeader(byte[] start) throws IOException {
        byte[] rest = in.readNBytes(MAX_HEADER_BYTES - start.length);
        byte[] all = Arrays.copyOf(start, start.length + rest.length);
        System.arraycopy(rest, 0, all, start.length, rest.length);
        AvroHeader header;
        try {
            header = AvroHeader.readAfterMagic(new AvroInput(all, 0, all.length, file));
        } catch (CorruptDataException e) {
            return e;
        }
        String format = header.metadata().get("stoker.format");
        if (format == null) {
            return new ForeignFileException(file, KIND, "its Avro header has no stoker.format");
        }
        if (format.matches("[1-9][0-9]{0,8}") && Integer.parseInt(format) > LedgerFormat.FORMAT) {
            return new FormatTooNewException(file, format, LedgerFormat.FORMAT);
        }
        try {
            Requires.check(header.metadata(), file);
        } catch (FormatTooNewException e) {
            return e;
        } catch (IllegalArgumentException e) {
            return new CorruptDataException(file + " is corrupt: " + e.getMessage(), e);
        }
        return CorruptDataException.mismatch(file, "its header", "the header of format 1", "another header");
    }

    /** Returns the next record, or empty after the last one. Only then is the file known to be complete. */
    public Optional<LedgerRecord> next() throws IOException {
        if (ended) {
            return Optional.empty();
        }
        LedgerFormat.Parsed parsed = parse();
        while (parsed.part() != null) {
            part = parsed.part();
            read++;
            parsed = parse();
        }
        if (parsed.entry() != null) {
            read++;
            return Optional.of(parsed.entry());
        }
        if (parsed.records() != read) {
            throw CorruptDataException.mismatch(file, "the number of records", parsed.records(), read);
        }
        if (left != 0 || in.read() >= 0) {
            throw CorruptDataException.mismatch(file, "its end", "nothing after the end record", "more");
        }
        ended = true;
        return Optional.empty();
    }

    private LedgerFormat.Parsed parse() throws IOException {
        if (left == 0) {
            readBlock();
        }
        LedgerFormat.Parsed parsed = LedgerFormat.read(records, block);
        left--;
        if (left == 0) {
            records.expectEnd();
        }
        return parsed;
    }

    /** Returns the part that the last record belongs to; empty in a file of one checkpoint. */
    public Optional<UUID> part() {
        return Optional.ofNullable(part);
    }

    private void readBlock() throws IOException {
        long count = readLong();
        long size = readLong();
        if (size < 1 || size > LedgerFormat.MAX_BLOCK_BYTES) {
            throw CorruptDataException.mismatch(
                    file, "the size of a block", "1 to " + LedgerFormat.MAX_BLOCK_BYTES, size);
        }
        if (count < 1 || count > size / LedgerFormat.CRC_BYTES) {
            throw CorruptDataException.mismatch(
                    file, "the number of records in a block", "1 to " + size / LedgerFormat.CRC_BYTES, count);
        }
        // Grows with the bytes that are present, so a forged size uses no memory.
        block = in.readNBytes((int) size);
        if (block.length < size) {
            throw truncated();
        }
        byte[] marker = in.readNBytes(AvroHeader.SYNC_LENGTH);
        if (marker.length < AvroHeader.SYNC_LENGTH) {
            throw truncated();
        }
        if (!Arrays.equals(marker, sync)) {
            throw CorruptDataException.mismatch(file, "the bytes after a block", "the sync marker", "others");
        }
        records = new AvroInput(block, 0, block.length, file);
        left = count;
    }

    private long readLong() throws IOException {
        byte[] number = new byte[10];
        int length = 0;
        int b;
        do {
            b = in.read();
            if (b < 0) {
                throw truncated();
            }
            number[length++] = (byte) b;
        } while (b >= 0x80 && length < number.length);
        return new AvroInput(number, 0, length, file).readLong();
    }

    private CorruptDataException truncated() {
        return CorruptDataException.mismatch(file, "its end", "an end record", "none: truncated");
    }
}
