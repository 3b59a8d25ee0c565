package dev.stoker.formats.avro;

import dev.stoker.schemas.arrow.types.ScalarType;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.jspecify.annotations.Nullable;

/** Says which field type holds the values of an Avro type, and decodes them. */
final class AvroTypes {
    private AvroTypes() {}

    /**
     * What becomes of a type.
     *
     * @param type the field type of one value
     * @param element the type of items of a list; null if lists of it cannot be stored
     * @param refusal why it cannot be stored; null if it can
     */
    record Mapping(
            String type,
            @Nullable ScalarType element,
            @Nullable String refusal,
            AvroNode.Reader reader) {}

    /** Returns the type in the words of Avro. */
    static String describe(Schema type) {
        if (type.getType() == Schema.Type.UNION) {
            return type.getTypes().stream()
                    .map(branch -> branch.getType().getName())
                    .collect(Collectors.joining(", ", "union of ", ""));
        }
        String name = type.getType().getName();
        return logical(type).isEmpty() ? name : name + " " + logical(type);
    }

    private static String logical(Schema type) {
        return type.getLogicalType() == null ? "" : type.getLogicalType().getName();
    }

    static Mapping map(Schema type) {
        return switch (type.getType()) {
            case BOOLEAN -> new Mapping("bool", ScalarType.UINT8, null, AvroTypes::bool);
            case INT -> integer(logical(type), false);
            case LONG -> integer(logical(type), true);
            case FLOAT ->
                number(ScalarType.FLOAT32, (in, slot) -> {
                    double value = Float.intBitsToFloat((int) in.readLittleEndian(Float.BYTES));
                    if (slot != null) {
                        slot.putDouble(value);
                    }
                });
            case DOUBLE ->
                number(ScalarType.FLOAT64, (in, slot) -> {
                    double value = Double.longBitsToDouble(in.readLittleEndian(Double.BYTES));
                    if (slot != null) {
                        slot.putDouble(value);
                    }
                });
            case STRING -> number(ScalarType.UTF8, AvroTypes::bytes);
            case BYTES -> binary(type, AvroTypes::bytes);
            case FIXED -> fixed(type);
            case ENUM -> new Mapping("categorical", ScalarType.UTF8, null, symbols(type.getEnumSymbols()));
            case NULL -> new Mapping("", null, "all its values are null", (in, slot) -> {});
            default -> throw new IllegalStateException(type.toString());
        };
    }

    private static Mapping integer(String logical, boolean wide) {
        String time = switch (logical) {
            case "date" -> "date";
            case "time-millis" -> "time[ms]";
            case "time-micros" -> "time[us]";
            case "timestamp-millis" -> "timestamp[ms,UTC]";
            case "timestamp-micros" -> "timestamp[us,UTC]";
            case "timestamp-nanos" -> "timestamp[ns,UTC]";
            case "local-timestamp-millis" -> "timestamp[ms]";
            case "local-timestamp-micros" -> "timestamp[us]";
            case "local-timestamp-nanos" -> "timestamp[ns]";
            default -> null;
        };
        AvroNode.Reader reader = wide ? AvroTypes::wide : AvroTypes::narrow;
        return time == null
                ? number(wide ? ScalarType.INT64 : ScalarType.INT32, reader)
                : new Mapping(time, null, null, reader);
    }

    private static void bool(AvroBytes in, @Nullable Slot slot) throws IOException {
        int value = in.readByte();
        if (value != 0 && value != 1) {
            throw new IOException("a boolean is " + value);
        }
        if (slot != null) {
            slot.putLong(value);
        }
    }

    private static void narrow(AvroBytes in, @Nullable Slot slot) throws IOException {
        int value = in.readInt();
        if (slot != null) {
            slot.putLong(value);
        }
    }

    private static void wide(AvroBytes in, @Nullable Slot slot) throws IOException {
        long value = in.readLong();
        if (slot != null) {
            slot.putLong(value);
        }
    }

    private static void bytes(AvroBytes in, @Nullable Slot slot) throws IOException {
        int from = in.skipBytes();
        if (slot != null) {
            slot.putBytes(in.array(), from, in.position() - from);
        }
    }

    private static Mapping fixed(Schema type) {
        int size = type.getFixedSize();
        AvroNode.Reader raw = (in, slot) -> {
            int from = in.skip(size);
            if (slot != null) {
                slot.putBytes(in.array(), from, size);
            }
        };
        if (logical(type).equals("duration")) {
            return new Mapping("", null, "durations cannot be stored; write numbers", raw);
        }
        if (logical(type).equals("uuid") && size == 16) {
            return number(ScalarType.UTF8, (in, slot) -> {
                long high = Long.reverseBytes(in.readLittleEndian(8));
                long low = Long.reverseBytes(in.readLittleEndian(8));
                if (slot != null) {
                    byte[] text = new UUID(high, low).toString().getBytes(StandardCharsets.US_ASCII);
                    slot.putBytes(text, 0, text.length);
                }
            });
        }
        return binary(type, raw);
    }

    /** Bytes, or a decimal in them. */
    private static Mapping binary(Schema type, AvroNode.Reader raw) {
        if (logical(type).equals("big-decimal")) {
            return new Mapping("", null, "decimals of any scale cannot be stored; write decimal or text", raw);
        }
        if (!(type.getLogicalType() instanceof LogicalTypes.Decimal decimal)) {
            return number(ScalarType.BINARY, raw);
        }
        boolean isFixed = type.getType() == Schema.Type.FIXED;
        String name = "decimal(" + decimal.getPrecision() + "," + decimal.getScale() + ")";
        return new Mapping(name, null, null, (in, slot) -> {
            int from = isFixed ? in.skip(type.getFixedSize()) : in.skipBytes();
            int length = in.position() - from;
            if (slot != null && length == 0) {
                slot.setBad("the decimal has no bytes");
            } else if (slot != null) {
                slot.putDecimal(new BigDecimal(new BigInteger(in.array(), from, length), decimal.getScale()));
            }
        });
    }

    private static AvroNode.Reader symbols(List<String> symbols) {
        byte[][] names = symbols.stream()
                .map(symbol -> symbol.getBytes(StandardCharsets.UTF_8))
                .toArray(byte[][]::new);
        return (in, slot) -> {
            int index = in.readInt();
            if (index < 0 || index >= names.length) {
                throw new IOException("an enum has symbol " + index + " of " + names.length);
            }
            if (slot != null) {
                slot.putBytes(names[index], 0, names[index].length);
            }
        };
    }

    private static Mapping number(ScalarType type, AvroNode.Reader reader) {
        return new Mapping(type.canonical(), type, null, reader);
    }
}
