package dev.stoker.schemas.kafka;

import dev.stoker.schemas.arrow.ColumnBuilder;
import dev.stoker.schemas.arrow.NullRows;
import dev.stoker.schemas.arrow.RecordBatchLayout;
import dev.stoker.schemas.arrow.RecordBatchParts;
import dev.stoker.schemas.arrow.types.ArrowField;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.FieldType.Layout;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TimeType;
import dev.stoker.schemas.arrow.types.TimestampType;
import dev.stoker.schemas.avro.AvroInput;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ErrorText;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Assembles samples of a topic ({@link SampleValue}) into a message as specified in {@code docs/formats/batch.md}. Call
 * {@link #add} for each sample, then {@link #message}. The caller must have verified the checksums of the records. Not
 * thread-safe.
 */
public final class SampleReader {
    private static final String ADVICE =
            "a program other than the feed wrote it: feed the epoch again into a new topic";
    private static final int OPENING = 5;

    private final List<Field> fields;
    private final OptionalInt schemaId;
    /** The ids by class name, for each categorical field. */
    private final Map<String, Map<String, Integer>> ids = new HashMap<>();

    private final RecordBatchLayout layout;
    private final ColumnBuilder key = new ColumnBuilder(ArrowField.of(Field.KEY, ScalarType.UTF8));
    /** The builders of small fields; null for payload fields. */
    private final ColumnBuilder[] small;
    /** The values of each payload field, in the samples' own memory. */
    private final List<List<ByteBuffer>> payload = new ArrayList<>();
    /** The null rows of each field that is payload. */
    private final List<NullRows> nulls = new ArrayList<>();

    /**
     * Creates a reader for a dataset's samples.
     *
     * @param fields in dataset order
     * @param classes for each categorical field, the class names by id
     * @param schemaId the schema's id in a registry, if values begin with it
     */
    public SampleReader(List<Field> fields, Map<String, List<String>> classes, OptionalInt schemaId) {
        this.fields = List.copyOf(fields);
        this.schemaId = schemaId;
        this.small = new ColumnBuilder[fields.size()];
        List<FieldType> types = new ArrayList<>(List.of(ScalarType.UTF8));
        boolean[] isPayload = new boolean[fields.size() + 1];
        for (int f = 0; f < small.length; f++) {
            Field field = fields.get(f);
            types.add(field.type());
            isPayload[f + 1] = field.payload();
            payload.add(new ArrayList<>());
            nulls.add(new NullRows());
            if (!field.payload()) {
                small[f] = new ColumnBuilder(ArrowField.of(field));
            }
            if (field.type() == ScalarType.CATEGORICAL) {
                List<String> names = classes.getOrDefault(field.name(), List.of());
                Map<String, Integer> numbers = new HashMap<>();
                names.forEach(name -> numbers.put(name, numbers.size()));
                ids.put(field.name(), numbers);
            }
        }
        this.layout = RecordBatchLayout.of(types, isPayload);
    }

    /**
     * Adds the next row.
     *
     * @param value value of its record; must not change before {@link #message}
     * @param where topic, partition and offset, for messages
     * @throws CorruptDataException if it is not a sample of these fields; the rows before are then discarded as well
     */
    public void add(byte[] value, String where) throws CorruptDataException {
        AvroInput in = new AvroInput(value, 0, value.length, where, ADVICE);
        try {
            read(in);
            in.expectEnd();
        } catch (IllegalArgumentException e) {
            clear();
            throw in.corrupt("a value", "one of the topic's fields", ErrorText.of(e));
        } catch (CorruptDataException e) {
            clear();
            throw e;
        }
    }

    /**
     * Builds the message of the rows that were added since the last one.
     *
     * @param memory returns a buffer from index 0 to a limit of exactly the given number of bytes; the message is
     *     written there
     * @throws IllegalArgumentException if the message would have 2^31 bytes or more
     */
    public ByteBuffer message(IntFunction<ByteBuffer> memory) {
        int rows = key.rows();
        RecordBatchParts parts = new RecordBatchParts(layout, rows);
        parts.set(0, key);
        for (int f = 0; f < small.length; f++) {
            if (small[f] != null) {
                parts.set(f + 1, small[f]);
            } else {
                FieldType type = fields.get(f).type();
                long bytes =
                        payload.get(f).stream().mapToLong(ByteBuffer::remaining).sum();
                ByteBuffer offsets = type.hasOffsets() ? offsets(payload.get(f), type) : null;
                parts.setPayload(f + 1, type, nulls.get(f), offsets, bytes);
            }
        }
        long length = layout.headLength() + parts.bodyLength();
        if (length > Integer.MAX_VALUE) {
            clear();
            throw new IllegalArgumentException("a batch of " + rows + " samples has " + length
                    + " bytes; 2^31 is the limit; use a smaller batch size");
        }
        ByteBuffer message = memory.apply((int) length);
        ByteBuffer out = message.duplicate().clear().order(ByteOrder.LITTLE_ENDIAN);
        long end = parts.smallLength();
        for (int at = 0; at < end; at += Long.BYTES) {
            out.putLong(at, 0);
        }
        parts.writeSmall(out);
        for (List<ByteBuffer> values : payload) {
            values.forEach(out::put);
            while (out.position() % RecordBatchLayout.ALIGNMENT != 0) {
                out.put((byte) 0);
            }
        }
        clear();
        return message;
    }

    private static ByteBuffer offsets(List<ByteBuffer> values, FieldType type) {
        ByteBuffer offsets = ByteBuffer.allocate(4 * (values.size() + 1)).order(ByteOrder.LITTLE_ENDIAN);
        int end = 0;
        offsets.putInt(end);
        for (ByteBuffer value : values) {
            end += value.remaining() / type.width();
            offsets.putInt(end);
        }
        return offsets.flip();
    }

    private void clear() {
        key.truncate(0);
        for (int f = 0; f < small.length; f++) {
            payload.get(f).clear();
            nulls.get(f).clear();
            if (small[f] != null) {
                small[f].truncate(0);
            }
        }
    }

    private void read(AvroInput in) throws CorruptDataException {
        if (schemaId.isPresent()) {
            ByteBuffer opening = in.viewFixed(OPENING).order(ByteOrder.BIG_ENDIAN);
            int mark = opening.get();
            int id = opening.getInt();
            if (mark != 0 || id != schemaId.getAsInt()) {
                throw in.corrupt(
                        "what a value begins with", "0 and schema " + schemaId.getAsInt(), mark + " and " + id);
            }
        }
        key.appendBytes(in.viewBytes());
        for (int f = 0; f < small.length; f++) {
            if (small[f] != null) {
                readSmall(in, fields.get(f), small[f]);
            }
        }
        for (Field field : fields) {
            if (field.payload()) {
                in.readLong(); // The payload's checksum. The checksum of the record covers it.
            }
        }
        for (int f = 0; f < small.length; f++) {
            if (small[f] == null) {
                payload.get(f).add(payload(in, f));
            }
        }
    }

    private ByteBuffer payload(AvroInput in, int f) throws CorruptDataException {
        Field field = fields.get(f);
        if (isNull(in, field)) {
            nulls.get(f).add(key.rows() - 1);
            return ByteBuffer.allocate(
                    field.type().hasOffsets() ? 0 : field.type().width());
        }
        if (field.type() instanceof ListType list) {
            return SampleNumbers.read(in, list.element());
        }
        ByteBuffer value = in.viewBytes();
        int width = field.type().width();
        if (field.type().layout() == Layout.TENSOR && value.remaining() != width) {
            throw in.corrupt("the length of " + field.name(), width, value.remaining());
        }
        return value;
    }

    private static boolean isNull(AvroInput in, Field field) throws CorruptDataException {
        long branch = field.nullable() ? in.readLong() : 1;
        if (branch != 0 && branch != 1) {
            throw in.corrupt("whether there is a " + field.name(), "0 or 1", branch);
        }
        return branch == 0;
    }

    private void readSmall(AvroInput in, Field field, ColumnBuilder column) throws CorruptDataException {
        if (isNull(in, field)) {
            column.appendNull();
            return;
        }
        FieldType type = field.type();
        if (type instanceof ScalarType scalar) {
            readScalar(in, field, scalar, column);
        } else if (type instanceof TimestampType || type instanceof TimeType) {
            column.appendLong(in.readLong());
        } else if (type instanceof DecimalType decimal) {
            ByteBuffer unscaled = in.viewBytes();
            byte[] bigEndian = new byte[unscaled.remaining()];
            unscaled.get(bigEndian);
            column.appendDecimal(new BigDecimal(new BigInteger(bigEndian), decimal.scale()));
        } else if (type instanceof ListType list && list.nullItems()) {
            column.appendItems(nullableItems(in, field, list.element()));
        } else if (type instanceof ListType list && list.items() != null) {
            column.appendItems(items(in, list));
        } else if (type instanceof ListType list) {
            column.appendBytes(SampleNumbers.read(in, list.element()));
        } else {
            column.appendBytes(in.viewBytes());
        }
    }

    private static List<ByteBuffer> items(AvroInput in, ListType type) throws CorruptDataException {
        int count = in.readItems(1);
        List<ByteBuffer> items = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            items.add(type.isOfLists() ? SampleNumbers.read(in, type.element()) : in.viewBytes());
        }
        in.endItems(count);
        return items;
    }

    private static List<@Nullable ByteBuffer> nullableItems(AvroInput in, Field field, ScalarType type)
            throws CorruptDataException {
        int count = in.readItems(1);
        List<@Nullable ByteBuffer> items = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            long branch = in.readLong();
            if (branch != 0 && branch != 1) {
                throw in.corrupt("whether there is an item of " + field.name(), "0 or 1", branch);
            }
            items.add(branch == 0 ? null : type.isNumber() ? SampleNumbers.readOne(in, type) : in.viewBytes());
        }
        in.endItems(count);
        return items;
    }

    private void readScalar(AvroInput in, Field field, ScalarType scalar, ColumnBuilder column)
            throws CorruptDataException {
        switch (scalar) {
            case BOOL -> column.appendBoolean(in.readBoolean());
            case INT8, INT16, INT32, UINT8, UINT16, UINT32, INT64, UINT64, DATE -> column.appendLong(in.readLong());
            case FLOAT16 -> column.appendBits(SampleNumbers.toFloat16(in));
            case BFLOAT16 -> column.appendBits(SampleNumbers.toBfloat16(in));
            case FLOAT32 -> column.appendBits(in.viewFixed(Float.BYTES).getInt());
            case FLOAT64 -> column.appendBits(in.viewFixed(Double.BYTES).getLong());
            case CATEGORICAL -> column.appendLong(classId(in, field));
            case UTF8, BINARY -> column.appendBytes(in.viewBytes());
        }
    }

    private int classId(AvroInput in, Field field) throws CorruptDataException {
        String name = in.readString();
        Integer id = Objects.requireNonNull(ids.get(field.name()), "each categorical field has ids")
                .get(name);
        if (id == null) {
            throw in.corrupt("the class of " + field.name(), "one of the topic's", name);
        }
        return id;
    }
}
