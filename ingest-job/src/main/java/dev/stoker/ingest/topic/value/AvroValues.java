package dev.stoker.ingest.topic.value;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.convert.Conversion;
import dev.stoker.formats.values.NumberList;
import dev.stoker.formats.values.TextValue;
import dev.stoker.formats.values.Utf8;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TimeText;
import dev.stoker.schemas.chunk.ChunkBuilder;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericEnumSymbol;
import org.apache.avro.generic.GenericFixed;
import org.apache.avro.generic.GenericRecord;
import org.jspecify.annotations.Nullable;

/** Decodes values that are one Avro record. Ignores Avro fields that the dataset does not have. */
public final class AvroValues implements ValueDecoder {

    private final AvroReader reader;
    private final List<Field> fields;
    private final int[] places;
    private final int[] positions;
    private final AvroUnits[] units;
    /** Why a field holds no value of the Avro field. */
    private final @Nullable String[] misfits;

    private final CheckedNumbers numbers = new CheckedNumbers();
    private final NestedItems items = new NestedItems();

    AvroValues(AvroReader reader, List<Field> fields, Map<String, Integer> own) {
        this.reader = reader;
        this.fields = fields;
        places = own.values().stream().sorted().mapToInt(Integer::intValue).toArray();
        positions = new int[places.length];
        units = new AvroUnits[places.length];
        misfits = new String[places.length];
        for (int i = 0; i < places.length; i++) {
            Schema.Field field = reader.schema().getField(fields.get(places[i]).name());
            positions[i] = field == null ? -1 : field.pos();
            if (field != null) {
                FieldType type = fields.get(places[i]).type();
                units[i] = AvroUnits.of(field.schema(), type);
                misfits[i] = misfit(AvroFields.typeOf(field.schema()), type);
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
                if (misfits[i] != null) {
                    throw new IllegalArgumentException(misfits[i]);
                }
                set(builder, places[i], units[i], field, own);
            } catch (BadValueException | IllegalArgumentException e) {
                throw new PoisonException(
                        PoisonException.Reason.FIELD, "its field " + field.name() + ": " + e.getMessage());
            }
        }
    }

    private static @Nullable String misfit(Optional<String> own, FieldType type) {
        return own.map(FieldType::parse)
                .filter(avro -> Conversion.of(avro, type) == Conversion.IMPOSSIBLE)
                .map(avro -> "its values are " + avro + ", which a field of type " + type + " does not hold")
                .orElse(null);
    }

    private void set(ChunkBuilder builder, int place, AvroUnits units, Field field, Object value)
            throws BadValueException {
        if (TimeText.isTime(field.type())) {
            builder.setLong(place, time(field.type(), units, value));
        } else if (field.type() instanceof DecimalType type) {
            builder.setDecimal(place, decimal(units, type, value));
        } else if (field.type() instanceof ListType type && type.nullItems()) {
            builder.setItems(place, nullableItems(type.element(), value));
        } else if (field.type() instanceof ListType type && type.items() != null) {
            items(type, value);
            builder.setItems(place, items.take());
        } else if (field.type() instanceof ScalarType type) {
            setScalar(builder, place, type, value);
        } else {
            builder.setBytes(place, list(field.type(), value).bytes());
        }
    }

    private static long time(FieldType type, AvroUnits units, Object value) throws BadValueException {
        if (value instanceof CharSequence) {
            return TimeText.parse(type, text(value, type).strip());
        }
        if (value instanceof Integer || value instanceof Long) {
            return units.time(((Number) value).longValue());
        }
        throw unfit(value, type);
    }

    private static BigDecimal decimal(AvroUnits units, DecimalType type, Object value) throws BadValueException {
        if (value instanceof CharSequence) {
            return TextValue.decimal(text(value, type).strip(), type);
        }
        if (value instanceof Integer || value instanceof Long) {
            return BigDecimal.valueOf(((Number) value).longValue());
        }
        ByteBuffer bytes = bytes(value);
        byte[] unscaled = new byte[bytes.remaining()];
        bytes.duplicate().get(unscaled);
        return units.decimal(unscaled);
    }

    private void items(ListType type, Object value) throws BadValueException {
        if (!(value instanceof Collection<?> list)) {
            throw new IllegalArgumentException("it is not an array");
        }
        items.begin();
        for (Object item : list) {
            if (type.item() == ScalarType.UTF8) {
                items.add(Utf8.encode(text(item, ScalarType.UTF8)));
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
                taken.add(Utf8.encode(text(item, type)));
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
            case CATEGORICAL -> builder.setClass(place, className(value, type));
            case BINARY -> builder.setBytes(place, bytes(value));
            case BOOL -> builder.setLong(place, bool(value));
            default -> {
                NumberList one = numbers.begin(Objects.requireNonNull(type));
                element(one, type, value);
                CheckedNumbers.set(builder, place, type, one);
            }
        }
    }

    private static long bool(Object value) {
        if (value instanceof Boolean flag) {
            return flag ? 1 : 0;
        }
        if (!(value instanceof Integer || value instanceof Long)) {
            throw unfit(value, ScalarType.BOOL);
        }
        return ((Number) value).longValue();
    }

    /** Returns the name of a class: text, or an integer or bool as text. */
    private static String className(Object value, ScalarType type) throws BadValueException {
        boolean isText = value instanceof Integer || value instanceof Long || value instanceof Boolean;
        return isText ? value.toString() : text(value, type);
    }

    /** Returns text. The reader would replace bytes that are not UTF-8. */
    private static String text(@Nullable Object value, FieldType type) throws BadValueException {
        if (value instanceof org.apache.avro.util.Utf8 bytes) {
            String text = Utf8.decodeOrNull(ByteBuffer.wrap(bytes.getBytes(), 0, bytes.getByteLength()));
            if (text == null) {
                throw new BadValueException("the text is not UTF-8");
            }
            return text;
        }
        if (value instanceof CharSequence || value instanceof GenericEnumSymbol) {
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
        String shown =
                value == null ? "null" : value instanceof Number ? "the number " + value : "a value of this kind";
        return new IllegalArgumentException(shown + " does not fit into " + type);
    }

    /** The bytes that each field of a record would take, by name. */
    public static Map<String, Long> sizes(GenericRecord record) {
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
