package dev.stoker.ingest.topic.value;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.values.NumberList;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.ChunkBuilder;
import java.nio.ByteBuffer;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/** The numbers of a value, checked as those of files: a list of each type. For one thread; reusable. */
final class CheckedNumbers {

    private final Map<ScalarType, NumberList> lists = new EnumMap<>(ScalarType.class);

    /** The type of a list's or tensor's elements. */
    static Optional<ScalarType> elementOf(FieldType type) {
        return Optional.ofNullable(type.numbers());
    }

    /** Begins an empty list of a type; it is valid until the next one of that type. */
    NumberList begin(ScalarType type) {
        NumberList list = lists.computeIfAbsent(type, NumberList::new);
        list.clear();
        return list;
    }

    /** Sets the field of the open row to the only number of a list. */
    static void set(ChunkBuilder builder, int place, ScalarType type, NumberList number) {
        if (type.isFloat()) {
            builder.setDouble(place, number.firstReal());
        } else {
            builder.setLong(place, number.firstInteger());
        }
    }

    /** Adds a number of Java; whole numbers are those of a signed type. */
    static void add(NumberList list, Number number) throws BadValueException {
        if (number instanceof Float || number instanceof Double) {
            list.add(number.doubleValue());
        } else {
            list.add(number.longValue());
        }
    }

    /** A copy of a list's elements. */
    static ByteBuffer copy(NumberList list) {
        ByteBuffer taken = list.bytes();
        return ByteBuffer.allocate(taken.remaining()).put(taken).flip();
    }
}
