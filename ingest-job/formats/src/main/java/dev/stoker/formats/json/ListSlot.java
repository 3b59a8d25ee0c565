package dev.stoker.formats.json;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.stoker.formats.BadValueException;
import dev.stoker.formats.NullItems;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.values.JsonTokens;
import dev.stoker.formats.values.NumberList;
import dev.stoker.formats.values.Utf8;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.errors.ErrorText;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Holds a list of numbers, of text or of bytes, or a list of lists of numbers. Not thread-safe. */
final class ListSlot extends JsonSlot {
    /** Lists around a number or text: 1 or 2. */
    private final int depth;

    private final ScalarType element;
    private final @Nullable NumberList numbers;
    private final List<ByteBuffer> texts = new ArrayList<>();
    /** The numbers or texts that are null. */
    private final BitSet nulls = new BitSet();

    private int[] lengths = new int[8];
    private int lists;
    private int listStart;

    /**
     * @param element utf8, binary or a number
     * @param depth 1 for lists, 2 for lists of lists
     */
    ListSlot(String name, FieldType type, ScalarType element, int depth) {
        super(name, type);
        this.element = element;
        this.depth = depth;
        this.numbers = element.isNumber() ? new NumberList(element) : null;
    }

    @Override
    void clear() {
        super.clear();
        texts.clear();
        nulls.clear();
        lists = 0;
        if (numbers != null) {
            numbers.clear();
        }
    }

    @Override
    int size() {
        return depth == 2 ? lists : numbers == null ? texts.size() : numbers.size();
    }

    @Override
    void openList(int around) {
        if (around == 0) {
            if (present) {
                fail("the row has two values for it");
            }
            present = true;
        }
        if (around >= depth) {
            fail("a list in a list is not " + type);
        } else if (around == 1) {
            listStart = numbers().size();
        }
    }

    private NumberList numbers() {
        return Objects.requireNonNull(numbers, "lists in lists have numbers");
    }

    @Override
    void closeList(int around) {
        if (around == 1 && depth == 2) {
            if (lists == lengths.length) {
                lengths = Arrays.copyOf(lengths, 2 * lists);
            }
            lengths[lists++] = numbers().size() - listStart;
        }
    }

    @Override
    void takeNullItem(int around) {
        if (around != depth || !type.hasNullItems()) {
            if (depth == 1) {
                fail("an item of the list is null", new ListType(element, true));
            } else {
                fail("an item of the list is null");
            }
            return;
        }
        nulls.set(size());
        if (numbers == null) {
            texts.add(ByteBuffer.allocate(0));
            return;
        }
        try {
            numbers.add(0);
        } catch (BadValueException e) {
            fail(ErrorText.of(e));
        }
    }

    @Override
    void take(JsonParser parser, int around) throws IOException, BadValueException {
        if (around != depth) {
            fail(JsonTokens.words(parser.currentToken()) + (around == 0 ? "" : " in a list") + " is not " + type);
            return;
        }
        JsonToken token = parser.currentToken();
        if (numbers == null) {
            if (token == JsonToken.VALUE_STRING) {
                texts.add(element == ScalarType.BINARY ? JsonTokens.toBytes(parser) : Utf8.encode(parser.getText()));
            } else {
                fail(JsonTokens.words(token) + " is not text, as the items of " + type + " are");
            }
        } else {
            JsonTokens.add(parser, numbers, element);
        }
    }

    @Override
    void give(ValueSink sink) throws BadValueException {
        if (numbers == null) {
            NullItems.give(texts, nulls, name, sink);
        } else if (depth == 1) {
            NullItems.give(numbers.bytes(), element.width(), nulls, name, sink);
        } else {
            sink.setLists(numbers.bytes(), Arrays.copyOf(lengths, lists));
        }
    }
}
