package dev.stoker.hadoop;

import dev.stoker.metadata.index.SampleStat;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.crc.Crc32cs;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * The field whose values are the contents of the files: a payload field, bytes or text. A missing value is an empty
 * file. Immutable.
 */
final class ContentField {

    private final int index;
    private final Field field;
    /** Bytes of all other values of a sample; -1 if samples differ in them. */
    private final long otherBytes;

    private ContentField(int index, Field field, long otherBytes) {
        this.index = index;
        this.field = field;
        this.otherBytes = otherBytes;
    }

    /** Chooses the field with this name, or else the only payload field, or else the only field of bytes or text. */
    static ContentField of(List<Field> fields, Optional<String> wanted, String setting) throws IOException {
        List<String> payload =
                fields.stream().filter(Field::payload).map(Field::name).toList();
        List<String> known =
                fields.stream().filter(ContentField::hasBytes).map(Field::name).toList();
        List<String> usual = payload.isEmpty() ? known : payload;
        if (wanted.isEmpty() && usual.size() != 1) {
            throw new IOException(
                    usual.isEmpty()
                            ? "The dataset has no field of bytes or text, so its samples are not files"
                            : "The dataset has the fields " + String.join(", ", usual) + "; set " + setting
                                    + " to the one whose values are the contents of the files");
        }
        String name = wanted.orElseGet(() -> usual.get(0));
        for (int f = 0; f < fields.size(); f++) {
            if (fields.get(f).name().equals(name) && hasBytes(fields.get(f))) {
                return new ContentField(f, fields.get(f), otherBytes(fields, f));
            }
        }
        throw new IOException(setting + " is '" + name
                + "', but the dataset has no such field of bytes or text; it has " + String.join(", ", known));
    }

    private static boolean hasBytes(Field field) {
        return field.payload() || field.type() == ScalarType.BINARY || field.type() == ScalarType.UTF8;
    }

    private static long otherBytes(List<Field> fields, int content) {
        long bytes = 0;
        for (int f = 0; f < fields.size(); f++) {
            FieldType type = fields.get(f).type();
            if (f == content) {
                continue;
            }
            if (type.hasOffsets() || fields.get(f).payload()) {
                return -1;
            }
            // As the sample index counts them.
            bytes += type.layout() == FieldType.Layout.BITS ? 1 : type.width();
        }
        return fields.get(content).payload() ? bytes : -1;
    }

    /** Returns the field's index in the dataset. */
    int index() {
        return index;
    }

    String name() {
        return field.name();
    }

    boolean isPayload() {
        return field.payload();
    }

    /**
     * Returns whether the sample index has the length and the checksum of the contents: if all other fields are small
     * and have one width.
     */
    boolean isIndexed() {
        return otherBytes >= 0;
    }

    /** Returns the length and the checksum of a sample's contents, if the field is {@link #isIndexed indexed}. */
    Contents contents(SampleStat stat) {
        return new Contents(Integer.toUnsignedLong(stat.length()) - otherBytes, stat.crc32c());
    }

    /** Returns the length and the checksum of a sample's contents. */
    Contents contents(ChunkHead head, int row) {
        return field.payload()
                ? new Contents(head.payloadLength(index, row), head.payloadCrc32c(index, row))
                : new Contents(
                        head.column(index).valueLength(row),
                        Crc32cs.of(head.column(index).bytesAt(row)));
    }

    /**
     * What is known about the contents of a file.
     *
     * @param length number of bytes
     * @param crc32c their CRC-32C
     */
    record Contents(long length, int crc32c) {

        /** Returns a text that is equal for equal contents, and different for others. */
        String etag() {
            return Crc32cs.hex(crc32c) + "-" + length;
        }
    }
}
