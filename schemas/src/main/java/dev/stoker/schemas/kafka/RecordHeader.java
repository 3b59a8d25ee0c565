package dev.stoker.schemas.kafka;

import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.order.Fingerprint;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Contains the headers of a record. All values are ASCII text. Numbers are decimal, without leading zeros.
 *
 * <pre>
 * stoker.format       1: batch records hold record batches; 2: they hold a sample each
 * stoker.kind         epoch-begin, batch or epoch-end
 * stoker.fingerprint  32 hexadecimal digits: the data and its order
 * stoker.version      the dataset's version
 * stoker.epoch        from 0
 * stoker.batch        number in the epoch, from 0
 * stoker.lane         the lane, which is the partition
 * stoker.piece        index of the piece in its batch     stoker.pieces   pieces of the batch, over all lanes
 * stoker.part         index of the part in its piece      stoker.parts    parts of the piece
 * stoker.rows         rows in this record                 stoker.skipped  rows left out because they were damaged
 * stoker.row          in format 2: index of the sample in its batch, those left out counted
 * stoker.crc32c       8 hexadecimal digits: the checksum of the headers above and the value
 * </pre>
 *
 * <p>The checksum is the CRC-32C of {@code name=value} and a line feed for each header above it, in this order,
 * followed by the value.
 *
 * @param kind kind of the record; control records have batch, piece, part, rows and skipped 0, pieces and parts 1
 * @param fingerprint fingerprint of data and order
 * @param version the dataset's version
 * @param epoch the epoch
 * @param batch number of the batch in the epoch
 * @param lane the lane
 * @param piece index of the piece in its batch
 * @param pieces number of pieces of the batch
 * @param part index of the part in its piece
 * @param parts number of parts of the piece
 * @param rows number of rows in the record
 * @param skipped number of rows that were left out
 * @param values format of the topic's batch records
 * @param row index of the sample in its batch; 0 if records contain batches
 */
public record RecordHeader(
        RecordKind kind,
        Fingerprint fingerprint,
        long version,
        long epoch,
        long batch,
        int lane,
        int piece,
        int pieces,
        int part,
        int parts,
        int rows,
        int skipped,
        ValueFormat values,
        int row) {
    /** The newest version of this layout. */
    public static final int FORMAT = ValueFormat.AVRO.version();

    /** Prefix of the names of all headers. */
    public static final String PREFIX = "stoker.";

    /** The header of the checksum, the last one. */
    public static final String CRC = PREFIX + "crc32c";

    private static final String FORMAT_NAME = PREFIX + "format";
    private static final Pattern NUMBER = Pattern.compile("0|[1-9][0-9]{0,18}");
    private static final Pattern DIGITS = Pattern.compile("[0-9a-f]{8}");
    private static final int SHOWN = 60;

    public RecordHeader {
        if (row < 0 || (row > 0 && (kind != RecordKind.BATCH || values == ValueFormat.ARROW))) {
            throw new IllegalArgumentException("no record: row " + row + " of a " + kind + " record");
        }
        if (version < 1 || epoch < 0 || batch < 0 || lane < 0 || rows < 0 || skipped < 0) {
            throw new IllegalArgumentException("no record: version " + version + ", epoch " + epoch + ", batch " + batch
                    + ", lane " + lane + ", rows " + rows + ", skipped " + skipped);
        }
        if (piece < 0 || piece >= pieces || part < 0 || part >= parts) {
            throw new IllegalArgumentException(
                    "no record: piece " + piece + " of " + pieces + ", part " + part + " of " + parts);
        }
        if (kind != RecordKind.BATCH && (batch != 0 || rows != 0 || skipped != 0 || pieces != 1 || parts != 1)) {
            throw new IllegalArgumentException("a control record has no batch, rows or parts");
        }
    }

    /** Creates the header of a record in a topic of record batches. */
    public RecordHeader(
            RecordKind kind,
            Fingerprint fingerprint,
            long version,
            long epoch,
            long batch,
            int lane,
            int piece,
            int pieces,
            int part,
            int parts,
            int rows,
            int skipped) {
        this(
                kind,
                fingerprint,
                version,
                epoch,
                batch,
                lane,
                piece,
                pieces,
                part,
                parts,
                rows,
                skipped,
                ValueFormat.ARROW,
                0);
    }

    /** Creates the header of the first or last record of an epoch. */
    public static RecordHeader control(RecordKind kind, Fingerprint fingerprint, long version, long epoch, int lane) {
        return new RecordHeader(kind, fingerprint, version, epoch, 0, lane, 0, 1, 0, 1, 0, 0);
    }

    /** Returns the same header for a topic with this format of batch records. */
    public RecordHeader with(ValueFormat format, int sample) {
        return new RecordHeader(
                kind,
                fingerprint,
                version,
                epoch,
                batch,
                lane,
                piece,
                pieces,
                part,
                parts,
                rows,
                skipped,
                format,
                sample);
    }

    /** Returns the record's position in its partition. */
    public RecordPosition position() {
        return new RecordPosition(epoch, kind, batch, part);
    }

    /** Returns the checksum of the record with a value. */
    public int crc(int valueCrc, int valueLength) {
        return Crc32cs.combine(Crc32cs.of(covered(texts())), valueCrc, valueLength);
    }

    /** Returns names and values in their order, with the checksum last. */
    public Map<String, byte[]> headers(int crc) {
        Map<String, byte[]> headers = new LinkedHashMap<>();
        texts().forEach((name, text) -> headers.put(name, ascii(text)));
        headers.put(CRC, ascii(Crc32cs.hex(crc)));
        return headers;
    }

    /**
     * Reads the headers of a record, and verifies them and its value.
     *
     * @param headers values by name; other names are ignored
     * @param value the record's value
     * @param where topic, partition and offset, for messages
     * @throws ForeignFileException if it is not a record of a feed
     * @throws FormatTooNewException if a newer feed wrote it
     * @throws CorruptDataException if headers or value are not those that were written
     */
    public static RecordHeader read(Map<String, byte[]> headers, byte[] value, String where) throws StokerException {
        RecordHeader header = read(headers, where);
        String stated = text(headers, CRC, where);
        if (!DIGITS.matcher(stated).matches()) {
            throw corrupt(where, "header " + CRC, "8 hexadecimal digits", stated);
        }
        byte[] content = value == null ? new byte[0] : value;
        String found = Crc32cs.hex(header.crc(Crc32cs.of(content), content.length));
        if (!found.equals(stated)) {
            throw corrupt(where, "CRC32C of headers and value", stated, found);
        }
        return header;
    }

    /** Reads the headers like {@link #read(Map, byte[], String)}, without verifying value and checksum. */
    public static RecordHeader read(Map<String, byte[]> headers, String where) throws StokerException {
        if (headers.get(FORMAT_NAME) == null) {
            throw new ForeignFileException(where, "a record of a Stoker feed", "it has no header " + FORMAT_NAME);
        }
        String format = text(headers, FORMAT_NAME, where);
        ValueFormat values = ValueFormat.ofVersion(format).orElse(null);
        if (values == null) {
            if (NUMBER.matcher(format).matches()) {
                throw new FormatTooNewException(where, format, FORMAT);
            }
            throw corrupt(where, "header " + FORMAT_NAME, FORMAT, format);
        }
        try {
            return new RecordHeader(
                    kind(text(headers, PREFIX + "kind", where), where),
                    new Fingerprint(text(headers, PREFIX + "fingerprint", where)),
                    number(headers, "version", Long.MAX_VALUE, where),
                    number(headers, "epoch", Long.MAX_VALUE, where),
                    number(headers, "batch", Long.MAX_VALUE, where),
                    count(headers, "lane", where),
                    count(headers, "piece", where),
                    count(headers, "pieces", where),
                    count(headers, "part", where),
                    count(headers, "parts", where),
                    count(headers, "rows", where),
                    count(headers, "skipped", where),
                    values,
                    values == ValueFormat.AVRO ? count(headers, "row", where) : 0);
        } catch (IllegalArgumentException e) {
            throw corrupt(where, "headers", "the headers of a Stoker record", ErrorText.of(e));
        }
    }

    private Map<String, String> texts() {
        Map<String, String> texts = new LinkedHashMap<>();
        texts.put(FORMAT_NAME, Integer.toString(values.version()));
        texts.put(PREFIX + "kind", kind.text());
        texts.put(PREFIX + "fingerprint", fingerprint.text());
        texts.put(PREFIX + "version", Long.toString(version));
        texts.put(PREFIX + "epoch", Long.toString(epoch));
        texts.put(PREFIX + "batch", Long.toString(batch));
        texts.put(PREFIX + "lane", Integer.toString(lane));
        texts.put(PREFIX + "piece", Integer.toString(piece));
        texts.put(PREFIX + "pieces", Integer.toString(pieces));
        texts.put(PREFIX + "part", Integer.toString(part));
        texts.put(PREFIX + "parts", Integer.toString(parts));
        texts.put(PREFIX + "rows", Integer.toString(rows));
        texts.put(PREFIX + "skipped", Integer.toString(skipped));
        if (values == ValueFormat.AVRO) {
            texts.put(PREFIX + "row", Integer.toString(row));
        }
        return texts;
    }

    private static byte[] covered(Map<String, String> texts) {
        StringBuilder lines = new StringBuilder();
        texts.forEach(
                (name, text) -> lines.append(name).append('=').append(text).append('\n'));
        return ascii(lines.toString());
    }

    private static RecordKind kind(String text, String where) throws CorruptDataException {
        for (RecordKind kind : RecordKind.values()) {
            if (kind.text().equals(text)) {
                return kind;
            }
        }
        throw corrupt(where, "header " + PREFIX + "kind", "epoch-begin, batch or epoch-end", text);
    }

    private static int count(Map<String, byte[]> headers, String name, String where) throws CorruptDataException {
        return (int) number(headers, name, Integer.MAX_VALUE, where);
    }

    private static long number(Map<String, byte[]> headers, String name, long most, String where)
            throws CorruptDataException {
        String text = text(headers, PREFIX + name, where);
        if (NUMBER.matcher(text).matches() && (text.length() < 19 || text.compareTo("" + Long.MAX_VALUE) <= 0)) {
            long number = Long.parseLong(text);
            if (number <= most) {
                return number;
            }
        }
        throw corrupt(where, "header " + PREFIX + name, "a number from 0 to " + most, text);
    }

    private static String text(Map<String, byte[]> headers, String name, String where) throws CorruptDataException {
        byte[] value = headers.get(name);
        if (value == null) {
            throw corrupt(where, "header " + name, "a value", "none");
        }
        String text = new String(value, StandardCharsets.ISO_8859_1);
        return text.length() > SHOWN ? text.substring(0, SHOWN) + "…" : text;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static CorruptDataException corrupt(String where, String what, Object expected, Object found) {
        return new CorruptDataException(where + " is corrupt: " + what + ": expected " + expected + ", found " + found
                + "; something between the feed and this reader has changed the record: feed the epoch again into a new"
                + " topic");
    }
}
