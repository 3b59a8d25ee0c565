package dev.stoker.formats.tfrecord;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.tfrecord.ExampleFeature.Kind;
import dev.stoker.formats.values.NumberList;
import dev.stoker.formats.values.Numbers;
import dev.stoker.formats.values.TextValue;
import dev.stoker.formats.values.Utf8;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.FixedBinaryType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TensorType;
import dev.stoker.schemas.text.ShellText;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Gives a feature as values of a column's type. Not thread-safe. */
final class FeatureColumn {
    private final String name;
    private final FieldType type;
    private final boolean isList;
    /** The type of the numbers, or null if the column takes bytes. */
    private final @Nullable ScalarType number;

    private final @Nullable NumberList numbers;

    FeatureColumn(String name, FieldType type) {
        this.name = name;
        this.type = type;
        this.isList = type instanceof TensorType || (type instanceof ListType list && !list.nullItems());
        this.number = number(type);
        this.numbers = number == null ? null : new NumberList(number);
    }

    private static @Nullable ScalarType number(FieldType type) {
        if (type.numbers() != null) {
            return type.numbers();
        }
        if (type == ScalarType.BOOL || (TextValue.isParsed(type) && !(type instanceof DecimalType))) {
            return ScalarType.INT64;
        }
        return type instanceof ScalarType scalar && scalar.isNumber() ? scalar : null;
    }

    /** Returns whether a feature can have a type. */
    static boolean canHave(FieldType type) {
        return !(type instanceof FixedBinaryType)
                && !(type instanceof ListType list && (list.nullItems() || list.isOfLists()));
    }

    void give(ExampleFeature feature, ValueSink sink) throws BadValueException {
        if (!isList && feature.count() != 1) {
            throw new BadValueException("it has " + feature.count() + " values, not one", listAdvice());
        }
        try {
            if (feature.kind() == Kind.BYTES) {
                giveBytes(feature, sink);
            } else {
                giveNumbers(feature, sink);
            }
        } catch (BadValueException e) {
            throw new BadValueException(e.reason(), advice(feature));
        }
    }

    private String listAdvice() {
        try {
            FieldType list = FieldType.parse(type + "[]");
            return canHave(list) ? "use " + ShellText.pair("--type", name, list.toString()) : withoutAdvice();
        } catch (IllegalArgumentException e) {
            return withoutAdvice();
        }
    }

    private String withoutAdvice() {
        return "correct it, or leave the column out with --without " + ShellText.word(name);
    }

    /** Returns the next step for a feature that the type does not hold: the type that holds it, if there is one. */
    private String advice(ExampleFeature feature) {
        String wide = feature.kind() == Kind.FLOAT ? "float64" : "int64";
        boolean isWider = number != null && !number.canonical().equals(wide);
        if (feature.kind() != Kind.BYTES && isWider) {
            return "use " + ShellText.pair("--type", name, wide + (isList ? "[]" : ""));
        }
        if (feature.kind() == Kind.BYTES && TextValue.isParsed(type) && number == ScalarType.INT64) {
            return "use " + ShellText.pair("--type", name, "utf8");
        }
        return withoutAdvice();
    }

    private void giveBytes(ExampleFeature feature, ValueSink sink) throws BadValueException {
        if (isList && number == null) {
            sink.setBytesList(feature.items());
            return;
        }
        ByteBuffer bytes = isList ? null : feature.items().get(0);
        if (bytes != null && number == null && !TextValue.isParsed(type)) {
            sink.setBytes(bytes);
            return;
        }
        String text = bytes != null && TextValue.isParsed(type) ? Utf8.decodeOrNull(bytes) : null;
        if (text == null) {
            throw new BadValueException("bytes are not " + type);
        }
        TextValue.put(text, type, sink);
    }

    private void giveNumbers(ExampleFeature feature, ValueSink sink) throws BadValueException {
        if (number == null || numbers == null || (feature.kind() == Kind.FLOAT && !number.isFloat())) {
            throw new BadValueException(feature.kind() + " is not " + type);
        }
        ByteBuffer packed = isList && number == ScalarType.FLOAT32 ? feature.packedFloats() : null;
        if (packed != null) {
            sink.setBytes(packed);
            return;
        }
        numbers.clear();
        feature.addTo(numbers);
        ByteBuffer bytes = numbers.bytes();
        if (isList) {
            sink.setBytes(bytes);
        } else if (number.isFloat()) {
            sink.setDouble(single(feature));
        } else {
            long value = numbers.firstInteger();
            if (type == ScalarType.BOOL && value >>> 1 != 0) {
                throw new BadValueException(value + " is not bool");
            }
            sink.setLong(value);
        }
    }

    private double single(ExampleFeature feature) throws BadValueException {
        NumberList one = new NumberList(feature.kind() == Kind.FLOAT ? ScalarType.FLOAT32 : ScalarType.INT64);
        feature.addTo(one);
        ByteBuffer bytes = one.bytes().order(ByteOrder.LITTLE_ENDIAN);
        return feature.kind() == Kind.FLOAT
                ? bytes.getFloat()
                : Numbers.exact(bytes.getLong(), Objects.requireNonNull(number, "a column of numbers"));
    }
}
