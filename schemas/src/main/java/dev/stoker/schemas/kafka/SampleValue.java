package dev.stoker.schemas.kafka;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.BatchColumns;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TimeType;
import dev.stoker.schemas.arrow.types.TimestampType;
import dev.stoker.schemas.avro.AvroOutput;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.StokerException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;

/**
 * Writes the value of a batch record in a topic of samples: one sample in Avro's binary encoding of {@link
 * SampleSchema}.
 *
 * <pre>
 * without a schema registry:  the sample
 * with one:                   00 | u32, big-endian: id of the schema | the sample
 * </pre>
 *
 * <p>Not thread-safe.
 */
public final class SampleValue {
    private final List<Field> fields;
    private final Map<String, List<String>> classes;
    private final OptionalInt schemaId;
    private final AvroOutput out = new AvroOutput();

    /**
     * Creates values of a dataset's samples.
     *
     * @param fields in dataset order
     * @param classes for each categorical field, the class names by id
     * @param schemaId the schema's id in a registry
     */
    public SampleValue(List<Field> fields, Map<String, List<String>> classes, OptionalInt schemaId) {
        this.fields = List.copyOf(fields);
        this.classes = Map.copyOf(classes);
        this.schemaId = schemaId;
    }

    /**
     * Returns the columns of a record batch message, for {@link #of}.
     *
     * @param message from index 0 to the limit; must not change
     */
    public List<ArrowColumn> columns(ByteBuffer message, String what) throws StokerException {
        return BatchColumns.read(message, fields, what);
    }

    /** Returns the key of a row. */
    public static String key(List<ArrowColumn> columns, int row) {
        return columns.get(0).stringAt(row);
    }

    /** Returns the value of a row. */
    public byte[] of(List<ArrowColumn> columns, int row) {
        out.clear();
        if (schemaId.isPresent()) {
            out.writeFixed(ByteBuffer.allocate(5)
                    .put((byte) 0)
                    .putInt(schemaId.getAsInt())
                    .array());
        }
        out.writeBytes(bytes(columns.get(0), row));
        for (int f = 0; f < fields.size(); f++) {
            if (!fields.get(f).payload()) {
                write(f, columns.get(f + 1), row);
            }
        }
        for (int f = 0; f < fields.size(); f++) {
            if (fields.get(f).payload()) {
                out.writeLong(
                        Integer.toUnsignedLong(Crc32cs.of(columns.get(f + 1).bytesAt(row))));
            }
        }
        for (int f = 0; f < fields.size(); f++) {
            if (fields.get(f).payload()) {
                write(f, columns.get(f + 1), row);
            }
        }
        return out.toByteArray();
    }

    private void write(int field, ArrowColumn column, int row) {
        if (fields.get(field).nullable()) {
            out.writeLong(column.isNull(row) ? 0 : 1);
            if (column.isNull(row)) {
                return;
            }
        }
        FieldType type = column.field().type();
        if (type instanceof ScalarType scalar) {
            writeScalar(field, scalar, column, row);
        } else if (type instanceof TimestampType || type instanceof TimeType) {
            out.writeLong(column.longAt(row));
        } else if (type instanceof DecimalType) {
            out.writeBytes(column.decimalAt(row).unscaledValue().toByteArray());
        } else if (type.items() != null) {
            writeItems(column, row);
        } else if (type instanceof ListType list) {
            SampleNumbers.write(out, list.element(), ByteBuffer.wrap(bytes(column, row)));
        } else {
            out.writeBytes(bytes(column, row));
        }
    }

    private void writeItems(ArrowColumn column, int row) {
        int count = column.itemCount(row);
        if (count > 0) {
            out.writeLong(count);
        }
        for (int item = 0; item < count; item++) {
            if (column.field().type().hasNullItems()) {
                out.writeLong(column.isNullItem(row, item) ? 0 : 1);
                if (column.isNullItem(row, item)) {
                    continue;
                }
            }
            writeItem(column.field().type(), column.itemAt(row, item));
        }
        out.writeLong(0);
    }

    private void writeItem(FieldType type, ByteBuffer item) {
        if (type instanceof ListType list && list.isOfLists()) {
            SampleNumbers.write(out, list.element(), item);
        } else if (type instanceof ListType list && list.element().isNumber()) {
            SampleNumbers.writeOne(out, list.element(), item, item.position());
        } else {
            byte[] bytes = new byte[item.remaining()];
            item.get(bytes);
            out.writeBytes(bytes);
        }
    }

    private void writeScalar(int field, ScalarType type, ArrowColumn column, int row) {
        switch (type) {
            case BOOL -> out.writeBoolean(column.booleanAt(row));
            case INT8, INT16, INT32, UINT8, UINT16, UINT32, INT64, UINT64, DATE -> out.writeLong(column.longAt(row));
            case FLOAT16 ->
                SampleNumbers.writeFloat(
                        out, SampleNumbers.ofFloat16(column.bytes().getShort(column.valuePosition(row))));
            case BFLOAT16 -> SampleNumbers.writeFloat(out, column.bytes().getShort(column.valuePosition(row)) << 16);
            case FLOAT32, FLOAT64 -> out.writeFixed(bytes(column, row));
            case CATEGORICAL ->
                out.writeString(Objects.requireNonNull(
                                classes.get(fields.get(field).name()), "each categorical field has classes")
                        .get(column.intAt(row)));
            case UTF8, BINARY -> out.writeBytes(bytes(column, row));
        }
    }

    private static byte[] bytes(ArrowColumn column, int row) {
        byte[] bytes = new byte[column.valueLength(row)];
        column.bytes().get(column.valuePosition(row), bytes);
        return bytes;
    }
}
