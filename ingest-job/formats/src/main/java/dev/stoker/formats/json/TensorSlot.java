package dev.stoker.formats.json;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.values.JsonTokens;
import dev.stoker.formats.values.NumberList;
import dev.stoker.schemas.arrow.types.TensorType;
import dev.stoker.schemas.errors.ErrorText;
import java.io.IOException;

/** Holds a tensor, given as nested lists of exactly its shape or as one flat list. Not thread-safe. */
final class TensorSlot extends JsonSlot {
    private final TensorType tensor;
    private final NumberList numbers;
    private boolean even;

    TensorSlot(String name, TensorType type) {
        super(name, type);
        this.tensor = type;
        this.numbers = new NumberList(type.element());
    }

    @Override
    boolean takesAll() {
        return true;
    }

    @Override
    void take(JsonParser parser, int depth) throws IOException, BadValueException {
        if (parser.currentToken() == JsonToken.VALUE_NULL && depth == 0) {
            return;
        }
        if (present || depth > 0 || parser.currentToken() != JsonToken.START_ARRAY) {
            fail(parser);
            parser.skipChildren();
            return;
        }
        present = true;
        numbers.clear();
        even = true;
        boolean flat = items(parser, 0);
        int count = tensor.shape().stream().reduce(1, Math::multiplyExact);
        if (numbers.size() != count || (!even && !flat)) {
            fail("a list of " + numbers.size() + " numbers does not have the shape of " + tensor);
        }
    }

    /** Reads a list to its end. Returns whether it has no lists in it. */
    private boolean items(JsonParser parser, int level) throws IOException {
        int count = 0;
        boolean flat = true;
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            count++;
            if (parser.currentToken() == JsonToken.START_ARRAY) {
                flat = false;
                items(parser, level + 1);
            } else if (parser.currentToken() == JsonToken.START_OBJECT) {
                fail(parser);
                parser.skipChildren();
            } else {
                even &= level == tensor.shape().size() - 1;
                number(parser);
            }
        }
        even &= level < tensor.shape().size() && count == tensor.shape().get(level);
        return flat;
    }

    private void number(JsonParser parser) throws IOException {
        try {
            JsonTokens.add(parser, numbers, tensor.element());
        } catch (BadValueException e) {
            fail(ErrorText.of(e));
        }
    }

    @Override
    void give(ValueSink sink) throws BadValueException {
        sink.setBytes(numbers.bytes());
    }
}
