package dev.stoker.metadata.diff;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.ChunkHead;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * Identifies the content of a sample by its small fields and by the lengths and checksums of its payload, all of which
 * are in the head of its chunk. A class counts by its name, because chunks have different ids. For one thread.
 */
public final class SampleDigest {

    private final MessageDigest digest;
    private final ByteBuffer number = ByteBuffer.allocate(Integer.BYTES);

    public SampleDigest() {
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /**
     * The content of a sample.
     *
     * @param high the first 64 bits
     * @param low the next 64 bits
     */
    public record Content(long high, long low) {}

    /** Returns the content of a row. */
    public Content of(ChunkHead head, int row) {
        for (int field = 0; field < head.fields().size(); field++) {
            add(head, field, row);
        }
        return result();
    }

    /** Returns the content of all fields of a row but one. */
    public Content without(ChunkHead head, int row, int left) {
        for (int field = 0; field < head.fields().size(); field++) {
            if (field != left) {
                add(head, field, row);
            }
        }
        return result();
    }

    /** Returns the content of a field of a row. */
    public Content of(ChunkHead head, int row, int field) {
        add(head, field, row);
        return result();
    }

    private Content result() {
        ByteBuffer result = ByteBuffer.wrap(digest.digest());
        return new Content(result.getLong(), result.getLong());
    }

    private void add(ChunkHead head, int field, int row) {
        ArrowColumn column = head.column(field);
        if (column.isNull(row)) {
            add(-1);
        } else if (head.fields().get(field).payload()) {
            add(head.payloadLength(field, row));
            add(head.payloadCrc32c(field, row));
        } else if (column.field().type() == ScalarType.BOOL) {
            add(column.booleanAt(row) ? 1 : 0);
        } else if (column.field().type() == ScalarType.CATEGORICAL) {
            add(ByteBuffer.wrap(head.classes(field).get(column.intAt(row)).getBytes(StandardCharsets.UTF_8)));
        } else {
            FieldType type = column.field().type();
            if (type.hasNullItems()) {
                addNullable(type, column, row);
            } else if (type.items() != null) {
                add(column.itemCount(row));
                for (int item = 0; item < column.itemCount(row); item++) {
                    add(column.itemEnd(row, item));
                }
            }
            add(column.bytesAt(row));
        }
    }

    private void addNullable(FieldType type, ArrowColumn column, int row) {
        int count = column.itemCount(row);
        add(count);
        for (int item = 0; item < count; item++) {
            add(column.isNullItem(row, item) ? 1 : 0);
            add(
                    type.layout() == FieldType.Layout.LIST
                            ? 0
                            : column.itemAt(row, item).remaining());
        }
    }

    private void add(int value) {
        digest.update(number.clear().putInt(value).flip());
    }

    private void add(ByteBuffer bytes) {
        add(bytes.remaining());
        digest.update(bytes);
    }
}
