package dev.stoker.ingest.pack.read;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.values.TextValue;
import dev.stoker.formats.values.Utf8;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.errors.ErrorText;
import java.nio.ByteBuffer;

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
                if (!Utf8.isValid(bytes)) {
                    throw new IllegalArgumentException("it is not UTF-8");
                }
                builder.setBytes(field, bytes);
            }
            case "categorical" -> {
                withoutLineEnd(bytes);
                builder.setClass(field, text(bytes));
            }
            default ->
                number(
                        builder,
                        field,
                        (ScalarType) FieldType.parse(type),
                        text(bytes).strip());
        }
    }

    /** Sets a bool or a number by the rules of files. */
    private static void number(ChunkBuilder builder, int field, ScalarType type, String text) {
        try {
            if (type == ScalarType.BOOL) {
                builder.setLong(field, TextValue.bool(text));
            } else if (type.isFloat()) {
                builder.setDouble(field, TextValue.number(text, type));
            } else {
                builder.setLong(field, TextValue.integer(text, type));
            }
        } catch (BadValueException e) {
            throw new IllegalArgumentException(ErrorText.of(e), e);
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
        String text = Utf8.decodeOrNull(bytes);
        if (text == null) {
            throw new IllegalArgumentException("it is not UTF-8");
        }
        return text;
    }
}
