package dev.stoker.formats.json;

import com.fasterxml.jackson.core.JsonParser;
import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.values.JsonTokens;
import dev.stoker.formats.values.TextValue;
import dev.stoker.formats.values.Utf8;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TimeText;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Holds a single value. Not thread-safe. */
final class ScalarSlot extends JsonSlot {
    private final boolean isInteger;
    private final boolean isFloat;
    private long integer;
    private double number;
    private @Nullable ByteBuffer text;
    private @Nullable String parsed;

    ScalarSlot(String name, FieldType type) {
        super(name, type);
        isInteger = type instanceof ScalarType scalar && scalar.isInteger();
        isFloat = type instanceof ScalarType scalar && scalar.isFloat();
    }

    @Override
    void take(JsonParser parser, int depth) throws IOException, BadValueException {
        if (present) {
            fail("the row has two values for it");
            return;
        }
        present = true;
        switch (parser.currentToken()) {
            case VALUE_NUMBER_INT -> takeInteger(parser);
            case VALUE_NUMBER_FLOAT -> takeNumber(parser);
            case VALUE_STRING -> takeText(parser);
            default -> {
                if (type == ScalarType.BOOL) {
                    integer = JsonTokens.toBool(parser);
                } else {
                    fail(parser);
                }
            }
        }
    }

    private void takeInteger(JsonParser parser) throws IOException, BadValueException {
        if (isInteger || TimeText.isTime(type)) {
            integer = JsonTokens.toLong(parser, type == ScalarType.UINT64);
        } else if (isFloat) {
            number = JsonTokens.toDouble(parser, (ScalarType) type);
        } else if (type == ScalarType.BOOL) {
            integer = JsonTokens.toBool(parser);
        } else if (TextValue.isParsed(type)) {
            parsed = parser.getText();
        } else {
            fail(parser);
        }
    }

    private void takeNumber(JsonParser parser) throws IOException, BadValueException {
        if (isFloat) {
            number = JsonTokens.toNumber(parser);
        } else if (isInteger) {
            fail("the number " + Utf8.shown(parser.getText()) + " is not an " + type, ScalarType.FLOAT64);
        } else if (TextValue.isParsed(type)) {
            parsed = parser.getText();
        } else {
            fail(parser);
        }
    }

    private void takeText(JsonParser parser) throws IOException, BadValueException {
        if (type == ScalarType.UTF8 || type == ScalarType.CATEGORICAL) {
            text = Utf8.encode(parser.getText());
        } else if (type == ScalarType.BINARY) {
            text = JsonTokens.toBytes(parser);
        } else if (TextValue.isParsed(type)) {
            parsed = parser.getText();
        } else {
            fail("the text " + Utf8.shown(parser.getText()) + " is not " + type);
        }
    }

    @Override
    void give(ValueSink sink) throws BadValueException {
        if (isFloat) {
            sink.setDouble(number);
        } else if (parsed != null) {
            TextValue.put(parsed, type, sink);
        } else if (isInteger || type == ScalarType.BOOL || TimeText.isTime(type)) {
            sink.setLong(integer);
        } else {
            sink.setBytes(Objects.requireNonNull(text, "the row has a value").duplicate());
        }
    }

    @Override
    void clear() {
        super.clear();
        parsed = null;
        text = null;
    }
}
