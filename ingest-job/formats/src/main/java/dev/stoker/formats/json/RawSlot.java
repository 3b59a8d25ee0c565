package dev.stoker.formats.json;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.values.Utf8;
import dev.stoker.schemas.arrow.types.FieldType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Holds text, and of any other value the JSON text: for columns that the user declared as text. Null stays null. Not
 * thread-safe.
 */
final class RawSlot extends JsonSlot {
    private final JsonObjects objects;
    private @Nullable ByteBuffer text;

    RawSlot(String name, FieldType type, JsonObjects objects) {
        super(name, type);
        this.objects = objects;
    }

    @Override
    boolean takesAll() {
        return true;
    }

    @Override
    void take(JsonParser parser, int depth) throws IOException, BadValueException {
        if (present) {
            fail("the row has two values for it");
            parser.skipChildren();
            return;
        }
        if (parser.currentToken() == JsonToken.VALUE_NULL) {
            return;
        }
        if (depth > 0) {
            fail("the items of a list are not one text");
            parser.skipChildren();
            return;
        }
        present = true;
        boolean isScalar = parser.currentToken().isScalarValue();
        text = isScalar ? Utf8.encode(parser.getText()) : objects.text(parser);
    }

    @Override
    void give(ValueSink sink) throws BadValueException {
        sink.setBytes(Objects.requireNonNull(text, "the row has a value").duplicate());
    }
}
