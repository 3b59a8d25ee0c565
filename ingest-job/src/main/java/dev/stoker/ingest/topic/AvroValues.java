package dev.stoker.ingest.topic;

import dev.stoker.schemas.arrow.Field;
import dev.stoker.schemas.arrow.ScalarType;
import dev.stoker.schemas.chunk.ChunkBuilder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericFixed;
import org.apache.avro.generic.GenericRecord;

/** Decodes values that are one Avro record. Ignores Avro fields that the dataset does not have. */
final class AvroValues implements ValueDecoder {

    private final AvroReader reader;
    private final List<Field> fields;
    private final int[] places;
    private final int[] positions;
    private final NumberList elements = new NumberList();

    AvroValues(AvroReader reader, List<Field> fields, Map<String, Integer> own) {
        this.reader = reader;
        this.fields = fields;
        places = own.values().stream().sorted().mapToInt(Integer::intValue).toArray();
        positions = new int[places.length];
        for (int i = 0; i < places.length; i++) {
            Schema.Field field = reader.schema().getField(fields.get(places[i]).name());
            positions[i] = field == null ? -1 : field.pos();
        }
    }

    @Override
    public void decode(byte[] value, ChunkBuilder builder) throws PoisonException, IOException {
        GenericRecord record = reader.read(value);
        for (int i = 0; i < places.length; i++) {
            Field field = fields.get(places[i]);
            Object own = positions[i] < 0 ? null : record.get(positions[i]);
            if (own == null) {
                if (!field.nullable()) {
                    throw new PoisonException(
                            PoisonException.Reason.MISSING_FIELD, "its field " + field.name() + " has no value");
                }
                continue;
            }
            try {
                set(builder, places[i], field, own);
            } catch (IllegalArgumentException e) {
                throw new PoisonException(
                        PoisonException.Reason.FIELD, "its field " + field.name() + ": " + e.getMessage());
            }
        }
    }

    private void set(ChunkBuilder builder, int place, Field field, Object value) {
        if (!(field.type() instanceof ScalarType type)) {
            list(field, value);
            builder.setBytes(place, elements.take());
            return;
        }
        switch (type) {
            case UTF8 -> builder.setString(place, text(value, type));
            case CATEGORICAL -> builder.setClass(place, value.toString());
            case BINARY -> builder.setBytes(place, bytes(value));
            case BOOL -> {
                if (!(value instanceof Boolean flag)) {
                    throw unfit(value, type);
                }
                builder.setLong(place, flag ? 1 : 0);
            }
            default -> number(builder, place, Objects.requireNonNull(type), value);
        }
    }

    private static void number(ChunkBuilder builder, int place, ScalarType type, Object value) {
        if (!(value instanceof Number number)) {
            throw unfit(value, type);
        }
        if (type.isFloat()) {
            builder.setDouble(place, number.doubleValue());
        } else if (value instanceof Float
                || value instanceof Double
                || (type == ScalarType.UINT64 && number.longValue() < 0)) {
            throw unfit(value, type);
        } else {
            builder.setLong(place, number.longValue());
        }
    }

    private static String text(Object value, ScalarType type) {
        if (value instanceof CharSequence) {
            return value.toString();
        }
        throw unfit(value, type);
    }

    private static ByteBuffer bytes(Object value) {
        if (value instanceof ByteBuffer buffer) {
            return buffer;
        }
        if (value instanceof GenericFixed fixed) {
            return ByteBuffer.wrap(fixed.bytes());
        }
        throw unfit(value, ScalarType.BINARY);
    }

    private void list(Field field, Object value) {
        ScalarType element = NumberList.elementOf(field.type()).orElseThrow();
        elements.begin(element);
        if (!(value instanceof Collection<?> list)) {
            throw new IllegalArgumentException("it is not an array");
        }
        for (Object item : list) {
            if (item instanceof Float || item instanceof Double) {
                elements.add(((Number) item).doubleValue());
            } else if (item instanceof Number number) {
                elements.add(number.longValue());
            } else {
                throw unfit(item, element);
            }
        }
    }

    private static IllegalArgumentException unfit(Object value, ScalarType type) {
        return new IllegalArgumentException(
                (value == null ? "null" : value.getClass().getSimpleName()) + " does not fit into " + type);
    }

    /** The bytes that each field of a record would take, by name. */
    static Map<String, Long> sizes(GenericRecord record) {
        Map<String, Long> sizes = new java.util.LinkedHashMap<>();
        for (Schema.Field field : record.getSchema().getFields()) {
            Object value = record.get(field.pos());
            long size = 8;
            if (value instanceof CharSequence text) {
                size = text.length();
            } else if (value instanceof ByteBuffer buffer) {
                size = buffer.remaining();
            } else if (value instanceof GenericFixed fixed) {
                size = fixed.bytes().length;
            } else if (value instanceof Collection<?> list) {
                size = 8L * list.size();
            }
            sizes.put(field.name(), size);
        }
        return sizes;
    }
}
