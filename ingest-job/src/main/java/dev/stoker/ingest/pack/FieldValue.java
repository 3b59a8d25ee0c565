package dev.stoker.ingest.pack;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.values.Numbers;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.errors.ErrorText;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** Converts the bytes of a sidecar, or of a record's header, to the value of its field. */
public final class FieldValue {

    private FieldValue() {}

    /**
     * Sets a field of the open row.
     *
     * @param type of the field, canonical
     * @throws IllegalArgumentException if the bytes are not a valid value, with the reason
     */
    public static void set(ChunkBuilder builder, int field, String type, ByteBuffer bytes) {
        switch (type) {
            case "binary" -> builder.setBytes(field, bytes);
            case "utf8" -> {
                withoutLineEnd(bytes);
                if (!isUtf8(bytes)) {
                    throw new IllegalArgumentException("it is not UTF-8");
                }
                builder.setBytes(field, bytes);
            }
            case "categorical" -> builder.setClass(field, text(bytes));
            case "bool" -> builder.setLong(field, bool(text(bytes)));
            case "float32", "float64" -> builder.setDouble(field, real(text(bytes)));
            case "uint64" -> builder.setLong(field, unsigned(text(bytes)));
            default -> builder.setLong(field, whole(text(bytes), type));
        }
    }

    /** Whether the remaining bytes are valid UTF-8. The position is not changed. */
    public static boolean isUtf8(ByteBuffer bytes) {
        boolean isAscii = true;
        for (int i = bytes.position(); i < bytes.limit() && isAscii; i++) {
            isAscii = bytes.get(i) >= 0;
        }
        if (isAscii) {
            return true;
        }
        try {
            StandardCharsets.UTF_8
                    .newDecoder()
                    .onMalformedInput(CodingErrorAction.REPORT)
                    .decode(bytes.duplicate());
            return true;
        } catch (CharacterCodingException e) {
            return false;
        }
    }

    private static void withoutLineEnd(ByteBuffer bytes) {
        if (bytes.hasRemaining() && bytes.get(bytes.limit() - 1) == '\n') {
            bytes.limit(bytes.limit() - 1);
            if (bytes.hasRemaining() && bytes.get(bytes.limit() - 1) == '\r') {
                bytes.limit(bytes.limit() - 1);
            }
        }
    }

    private static String text(ByteBuffer bytes) {
        if (!isUtf8(bytes)) {
            throw new IllegalArgumentException("it is not UTF-8");
        }
        CharBuffer text = StandardCharsets.UTF_8.decode(bytes.duplicate());
        return text.toString().strip();
    }

    private static long bool(String text) {
        return switch (text.toLowerCase(Locale.ROOT)) {
            case "1", "true" -> 1;
            case "0", "false" -> 0;
            default -> throw new IllegalArgumentException("'" + text + "' is not true, false, 1 or 0");
        };
    }

    private static double real(String text) {
        try {
            double value = Double.parseDouble(text);
            // Java reads more forms than other files have, such as 1e3f.
            return Numbers.isFloat(text) ? Numbers.toDouble(text) : value;
        } catch (BadValueException e) {
            throw new IllegalArgumentException(ErrorText.of(e), e);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("'" + text + "' is not a number", e);
        }
    }

    private static long unsigned(String text) {
        try {
            return Long.parseUnsignedLong(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("'" + text + "' is not an unsigned number", e);
        }
    }

    private static long whole(String text, String type) {
        boolean isSigned = type.startsWith("int");
        int bits = Integer.parseInt(type.substring(isSigned ? 3 : 4));
        long least = isSigned ? -1L << (bits - 1) : 0;
        long most = isSigned ? ~least : (1L << bits) - 1;
        try {
            long value = Long.parseLong(text);
            if (value >= least && value <= most) {
                return value;
            }
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("'" + text + "' is not a whole number", e);
        }
        throw new IllegalArgumentException(text + " does not fit into " + type);
    }
}
