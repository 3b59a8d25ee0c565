package dev.stoker.schemas.index;

import dev.stoker.schemas.arrow.RecordBatchLayout;
import dev.stoker.schemas.arrow.types.ArrowField;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.order.KeyHash;
import java.util.List;

/**
 * Defines the layout of a run.
 *
 * <pre>
 * opening                     magic and schema message, zeros to a multiple of 64
 * record batch ×              rows in ascending key; 8192 in all but the last; the bytes of the keys are last
 * FF FF FF FF 00 00 00 00     end-of-stream marker, zeros to a multiple of 64: line 0 of the hash table
 * line ×                      hash table: 64 bytes each
 * u32 ×                       checksums: of the opening, of each batch, of each 1024 lines; zeros to a multiple of 64
 * footer, i32 length, ARROW1  with the self-checksum of these bytes
 *
 * line: 12 × u32 row | 12 × u8 tag | u8 number of rows | u8 1 if a key is in a later line | 2 zero bytes
 * </pre>
 */
final class RunFormat {

    /** The format version that this release writes, and the newest that it reads. */
    static final int FORMAT = 1;

    static final String FORMAT_KEY = "stoker.format";
    static final String DATASET_KEY = "stoker.dataset";
    static final String FIRST_KEY = "stoker.first";
    static final String LAST_KEY = "stoker.last";
    static final String CHUNKS_KEY = "stoker.chunks";

    static final String SELF_KEY = "stoker.self";
    static final String ROWS_KEY = "stoker.rows";
    static final String KEYS_KEY = "stoker.keys";
    static final String LINES_KEY = "stoker.lines";
    static final String CHECKSUMS_KEY = "stoker.checksums_crc32c";

    static final List<ArrowField> FIELDS = List.of(
            field("key", "utf8"),
            field("ordinal", "int32"),
            field("row", "int32"),
            field("length", "int32"),
            field("crc32c", "uint32"));

    /** Rows of each record batch but the last. A power of 2. */
    static final int BATCH_ROWS = 1 << 13;

    /** The greatest length of a record batch message. A mapping of a part of a file covers it. */
    static final int MAX_BATCH_BYTES = 1 << 30;

    /** The greatest number of rows, which are numbers of 32 bits in the hash table. */
    static final long MAX_ROWS = 1L << 32;

    static final int LINE_BYTES = 64;
    static final int SLOTS = 12;
    static final int TAGS_AT = 4 * SLOTS;
    static final int COUNT_AT = TAGS_AT + SLOTS;
    static final int CONTINUES_AT = COUNT_AT + 1;

    /** Lines that have a checksum together. A power of 2. */
    static final int BLOCK_LINES = 1 << 10;

    static final long END_OF_STREAM = 0x00000000FFFFFFFFL;

    static final RecordBatchLayout LAYOUT = RecordBatchLayout.of(
            FIELDS.stream().map(ArrowField::type).toList(), new boolean[] {true, false, false, false, false});

    private RunFormat() {}

    private static ArrowField field(String name, String type) {
        return ArrowField.of(name, FieldType.parse(type));
    }

    /** Returns the home of a key in the hash table, and its tag in the low 8 bits. */
    static int hash(byte[] key, int offset, int length) {
        return (int) (KeyHash.hash(0, key, offset, length) >>> 32);
    }

    /** Returns the number of lines for this number of keys, before those that only hold keys of full lines. */
    static long buckets(long keys) {
        // 12 places are filled with 9.6 keys on average.
        return Math.max(1, (5 * keys + 47) / 48);
    }

    /** Returns the line in which the search for a hash begins. Line 0 holds the end-of-stream marker. */
    static long home(int hash, long buckets) {
        return 1 + ((Integer.toUnsignedLong(hash) * buckets) >>> 32);
    }

    /** Returns the number of checksums of the lines, including line 0. */
    static long lineBlocks(long lines) {
        return (lines + BLOCK_LINES) / BLOCK_LINES;
    }

    /** Contains the positions of the buffers of a batch, from the beginning of its message. */
    record Positions(int offsets, int ordinals, int rows, int lengths, int crcs, int keys) {

        static Positions of(int count) {
            int offsets = LAYOUT.headLength();
            int ordinals = offsets + align(4L * (count + 1));
            int rows = ordinals + align(4L * count);
            int lengths = rows + align(4L * count);
            int crcs = lengths + align(4L * count);
            return new Positions(offsets, ordinals, rows, lengths, crcs, crcs + align(4L * count));
        }

        private static int align(long bytes) {
            return (int) RecordBatchLayout.align(bytes);
        }
    }
}
