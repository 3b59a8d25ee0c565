package dev.stoker.ingest.topic;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.values.NumberList;
import dev.stoker.schemas.arrow.DecimalType;
import dev.stoker.schemas.arrow.Field;
import dev.stoker.schemas.arrow.FieldType;
import dev.stoker.schemas.arrow.NestedListType;
import dev.stoker.schemas.arrow.NullableListType;
import dev.stoker.schemas.arrow.ScalarType;
import dev.stoker.schemas.arrow.TimeText;
import dev.stoker.schemas.chunk.ChunkBuilder;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericFixed;
import org.apache.avro.generic.GenericRecord;
import org.jspecify.annotations.Nullable;

/** Decodes values that are one Avro record. Ignores Avro fields that the dataset does not have. */
final class AvroValues implements ValueDecoder {

    private final AvroReader reader;
    private final List<Field> fields;
    private final int[] places;
    private final int[] positions;
    private final AvroUnits[] units;
    private final CheckedNumbers numbers = new CheckedNumbers();
    private final NestedItems items = new NestedItems();

    AvroValues(AvroReader reader, List<Field> fields, Map<String, Integer> own) {
        this.reader = reader;
        this.fields = fields;
        places = own.values().stream().sorted().mapToInt(Integer::intValue).toArray();
        positions = new int[places.length];
        units = new AvroUnits[places.length];
        for (int i = 0; i < places.length; i++) {
            Schema.Field field = reader.schema().getField(fields.get(places[i]).name());
            positions[i] = field == null ? -1 : field.pos();
            if (field != null) {
                units[i] = AvroUnits.of(field.schema(), fields.get(places[i]).type());
            }
        }
    }

    @Override
    public void decode(ByteBuffer value, ChunkBuilder builder) throws PoisonException, IOException {
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
                set(builder, places[i], units[i], field, own);
            } catch (BadValueException | IllegalArgumentException e) {
                throw new PoisonException(
                        PoisonException.Reason.FIELD, "its field " + field.name() + ": " + e.getMessage());
            }
        }
    }

    private void set(ChunkBuilder builder, int place, AvroUnits units, Field field, Object value)
            throws BadValueException {
        if (TimeText.isTime(field.type())) {
            builder.setLong(place, time(field.type(), units, value));
        } else if (field.type() instanceof DecimalType) {
            builder.setDecimal(place, decimal(units, value));
        } else if (field.type() instanceof NestedListType type) {
            items(type, value);
            builder.setItems(place, items.take());
        } else if (field.type() instanceof NullableListType type) {
            builder.setItems(place, nullableItems(type.item(), value));
        } else if (field.type() instanceof ScalarType type) {
            setScalar(builder, place, type, value);
        } else {
            builder.setBytes(place, list(field.type(), value).bytes());
        }
    }

    private static long time(FieldType type, AvroUnits units, Object value) {
        if (value instanceof CharSequence text) {
            return TimeText.parse(type, text.toString());
        }
        if (value instanceof Integer || value instanceof Long) {
            return units.time(((Number) value).longValue());
        }
        throw unfit(value, type);
    }

    private static BigDecimal decimal(AvroUnits units, Object value) {
        try {
            if (value instanceof CharSequence text) {
                return new BigDecimal(text.toString());
            }
            if (value instanceof Integer || value instanceof Long) {
                return BigDecimal.valueOf(((Number) value).longValue());
            }
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("'" + value + "' is not a decimal number", e);
        }
        ByteBuffer bytes = bytes(value);
        byte[] unscaled = new byte[bytes.remaining()];
        bytes.duplicate().get(unscaled);
        return units.decimal(unscaled);
    }

    private void items(NestedListType type, Object value) throws BadValueException {
        if (!(value instanceof Collection<?> list)) {
            throw new IllegalArgumentException("it is not an array");
        }
        items.begin();
        for (Object item : list) {
            if (type.item() == ScalarType.UTF8) {
                items.add(text(item, ScalarType.UTF8));
            } else if (type.item() == ScalarType.BINARY) {
                items.add(bytes(item));
            } else {
                items.add(list(type.item(), item).bytes());
            }
        }
    }

    private List<@Nullable ByteBuffer> nullableItems(ScalarType type, Object value) throws BadValueException {
        if (!(value instanceof Collection<?> list)) {
            throw new IllegalArgumentException("it is not an array");
        }
        List<@Nullable ByteBuffer> taken = new ArrayList<>(list.size());
        for (Object item : list) {
            if (item == null) {
                taken.add(null);
            } else if (type == ScalarType.UTF8) {
                taken.add(ByteBuffer.wrap(text(item, type).getBytes(StandardCharsets.UTF_8)));
            } else if (type == ScalarType.BINARY) {
                taken.add(bytes(item));
            } else {
                NumberList one = numbers.begin(type);
                element(one, type, item);
                taken.add(CheckedNumbers.copy(one));
            }
        }
        return taken;
    }

    private void setScalar(ChunkBuilder builder, int place, ScalarType type, Object value) throws BadValueException {
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
            default -> {
                NumberList one = numbers.begin(Objects.requireNonNull(type));
                element(one, type, value);
                CheckedNumbers.set(builder, place, type, one);
            }
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

    private NumberList list(FieldType type, Object value) throws BadValueException {
        ScalarType element = CheckedNumbers.elementOf(type).orElseThrow();
        if (!(value instanceof Collection<?> found)) {
            throw new IllegalArgumentException("it is not an array");
        }
        NumberList list = numbers.begin(element);
        for (Object item : found) {
            element(list, element, item);
        }
        return list;
    }

    private static void element(NumberList list, ScalarType type, @Nullable Object item) throws BadValueException {
        if (!(item instanceof Number number)
                || (!type.isFloat() && (item instanceof Float || item instanceof Double))) {
            throw unfit(item, type);
        }
        CheckedNumbers.add(list, number);
    }

    private static IllegalArgumentException unfit(@Nullable Object value, FieldType type) {
        return new IllegalArgumentException(
                (value == null ? "null" : value.getClass().getSimpleName()) + " does not fit into " + type);
    }

    /** The bytes that each field of a record would take, by name. */
    static Map<String, Long> sizes(GenericRecord record) {
        Map<String, Long> sizes = new LinkedHashMap<>();
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
