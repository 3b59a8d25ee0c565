package dev.stoker.formats.mds;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.values.Numbers;
import dev.stoker.formats.values.TextValue;
import dev.stoker.formats.values.Utf8;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.values.NumberBytes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** Decodes the values of one encoding. */
@FunctionalInterface
interface MdsEncoding {
    /** Gives a value to the sink; the bytes are the value, little-endian. */
    void give(ByteBuffer value, ValueSink sink) throws BadValueException;

    /** Returns the decoder of an encoding that is not an array. */
    static MdsEncoding of(String encoding) {
        return switch (encoding) {
            case "int" -> (value, sink) -> number(value, ScalarType.INT64, sink);
            case "int8",
                    "int16",
                    "int32",
                    "int64",
                    "uint8",
                    "uint16",
                    "uint32",
                    "uint64",
                    "float16",
                    "float32",
                    "float64" -> {
                ScalarType type = (ScalarType) FieldType.parse(encoding);
                yield (value, sink) -> number(value, type, sink);
            }
            case "str_int" -> (value, sink) -> TextValue.put(text(value), ScalarType.INT64, sink);
            case "str_float" ->
                (value, sink) -> {
                    String text = text(value);
                    if (!Numbers.isFloat(text) && !Numbers.isNotFinite(text)) {
                        throw new BadValueException(Utf8.shown(text) + " is not a number");
                    }
                    sink.setDouble(Numbers.toDouble(text, ScalarType.FLOAT64));
                };
            case "jpeg_array", "jpegarray" -> (value, sink) -> list(value, 0, sink);
            case "list[jpeg]", "list[png]" -> (value, sink) -> list(value, 4, sink);
            default -> (value, sink) -> sink.setBytes(value);
        };
    }

    private static String text(ByteBuffer value) throws BadValueException {
        String text = Utf8.decodeOrNull(value);
        if (text == null) {
            throw new BadValueException("the value is not text in UTF-8");
        }
        return text;
    }

    private static void number(ByteBuffer value, ScalarType type, ValueSink sink) throws BadValueException {
        if (value.remaining() != type.width()) {
            throw new BadValueException("the value has " + value.remaining() + " bytes, not those of " + type);
        }
        int at = value.position();
        if (type.isFloat()) {
            sink.setDouble(NumberBytes.floatAt(type, value, at));
        } else {
            sink.setLong(NumberBytes.integerAt(type, value, at));
        }
    }

    /** Gives a list of values: after {@code unused} bytes the number of values, their lengths, and the values. */
    private static void list(ByteBuffer value, int unused, ValueSink sink) throws BadValueException {
        ByteBuffer in = value.slice().order(ByteOrder.LITTLE_ENDIAN);
        if (in.remaining() < unused + 4) {
            throw new BadValueException("the list is shorter than its header");
        }
        int count = in.getInt(unused);
        long at = unused + 4 + 4L * count;
        if (count < 0 || at > in.limit()) {
            throw new BadValueException("the list is shorter than its header");
        }
        List<ByteBuffer> items = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            long length = in.getInt(unused + 4 + 4 * i) & 0xFFFFFFFFL;
            if (length > in.limit() - at) {
                throw new BadValueException("item " + i + " of the list is longer than the list");
            }
            items.add(in.slice((int) at, (int) length));
            at += length;
        }
        if (at != in.limit()) {
            throw new BadValueException("the list has " + (in.limit() - at) + " bytes behind its items");
        }
        sink.setBytesList(items);
    }
}
