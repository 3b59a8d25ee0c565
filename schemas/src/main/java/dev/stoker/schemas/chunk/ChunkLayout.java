package dev.stoker.schemas.chunk;

import dev.stoker.schemas.arrow.RecordBatchLayout;
import dev.stoker.schemas.arrow.types.ArrowField;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Maps a dataset's fields to the columns of a chunk. Immutable and thread-safe.
 *
 * <pre>
 * column   0      1 … s          s+1 … s+p             s+p+1 … s+2p
 *          key    small fields   crc32c:&lt;payload&gt;   payload fields
 * </pre>
 */
public final class ChunkLayout {
    /** Format version of chunks. */
    public static final int FORMAT = 1;

    /** Maximum number of bytes of a payload value. */
    public static final int MAX_PAYLOAD = 1 << 30;

    static final String CRC_PREFIX = "crc32c:";

    private final List<Field> fields;
    private final int small;
    private final RecordBatchLayout batch;

    /**
     * Creates the layout of a dataset.
     *
     * @param fields fields in dataset order: small fields, then payload fields; names differ
     */
    public ChunkLayout(List<Field> fields) {
        this.fields = List.copyOf(fields);
        int count = 0;
        Set<String> names = new HashSet<>();
        for (Field field : fields) {
            if (!names.add(field.name())) {
                throw new IllegalArgumentException("two fields are named '" + field.name() + "'");
            }
            if (!field.payload()) {
                if (count + 1 != names.size()) {
                    throw new IllegalArgumentException("small field '" + field.name()
                            + "' stands behind a payload field; small fields come first");
                }
                count++;
            }
        }
        this.small = count;
        List<FieldType> types = arrowFields().stream().map(ArrowField::type).toList();
        this.batch = RecordBatchLayout.of(types, payloadColumns());
    }

    /** Returns the dataset's fields. */
    public List<Field> fields() {
        return fields;
    }

    /** Returns the number of small fields. They are the fields from 0 on. */
    public int smallFields() {
        return small;
    }

    /** Returns the number of payload fields. They follow the small ones. */
    public int payloadFields() {
        return fields.size() - small;
    }

    /** Returns the number of columns of a chunk. */
    public int columns() {
        return 1 + small + 2 * payloadFields();
    }

    /** Returns the column of a field. */
    public int column(int field) {
        return field < small ? 1 + field : 1 + field + payloadFields();
    }

    /** Returns the checksum column of a payload field. */
    public int crcColumn(int field) {
        return 1 + field;
    }

    /** Returns the layout of the record batch message. */
    RecordBatchLayout batch() {
        return batch;
    }

    /** Returns the columns as the schema describes them. */
    List<ArrowField> arrowFields() {
        List<ArrowField> columns = new ArrayList<>();
        columns.add(ArrowField.of(Field.KEY, ScalarType.UTF8));
        for (int f = 0; f < small; f++) {
            columns.add(ArrowField.of(fields.get(f)));
        }
        for (Field payload : fields.subList(small, fields.size())) {
            columns.add(ArrowField.of(CRC_PREFIX + payload.name(), ScalarType.UINT32));
        }
        for (Field payload : fields.subList(small, fields.size())) {
            columns.add(ArrowField.of(payload));
        }
        return columns;
    }

    boolean[] payloadColumns() {
        boolean[] payload = new boolean[columns()];
        for (int f = small; f < fields.size(); f++) {
            payload[column(f)] = true;
        }
        return payload;
    }
}
