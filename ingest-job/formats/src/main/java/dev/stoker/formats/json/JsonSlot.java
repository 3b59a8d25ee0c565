package dev.stoker.formats.json;

import com.fasterxml.jackson.core.JsonParser;
import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.values.JsonTokens;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.text.ShellText;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Holds the value of one column of the current row. The slot remembers a value that does not fit and refuses it when a
 * reader asks for it. So rows of which nobody wants the value are not lost. Not thread-safe.
 */
abstract class JsonSlot {
    final String name;
    final FieldType type;
    /** Whether the row has a value. */
    boolean present;

    private @Nullable String problem;
    private @Nullable String advice;

    JsonSlot(String name, FieldType type) {
        this.name = name;
        this.type = type;
    }

    /** Forgets the value of the row before. */
    void clear() {
        present = false;
        problem = null;
        advice = null;
    }

    /** Remembers why the value cannot be given. */
    final void fail(String reason) {
        if (problem == null) {
            problem = reason;
        }
    }

    /** Remembers why the value cannot be given, and the type that holds it. */
    final void fail(String reason, FieldType other) {
        if (problem == null) {
            problem = reason;
            advice = "use " + ShellText.pair("--type", name, other.toString());
        }
    }

    final void fail(JsonParser parser) {
        fail(JsonTokens.words(parser.currentToken()) + " is not " + type);
    }

    /** Returns whether the slot reads a value to its last token itself, whatever it is. */
    boolean takesAll() {
        return false;
    }

    /** Returns how many items the list of the row has so far. */
    int size() {
        return 0;
    }

    /** Begins a list; {@code depth} is the number of lists around it. */
    void openList(int depth) {
        fail("a list is not " + type);
    }

    /** Ends a list; {@code depth} is the number of lists around it. */
    void closeList(int depth) {}

    /** Takes a null in a list; {@code depth} is the number of lists around it. */
    void takeNullItem(int depth) {
        fail("an item of the list is null");
    }

    /** Takes the parser's current token, a value that is neither null nor a list or an object. */
    abstract void take(JsonParser parser, int depth) throws IOException, BadValueException;

    final void emit(ValueSink sink) throws BadValueException {
        if (problem != null) {
            String text = takesAll()
                    ? "correct it, or leave the column out with --without " + ShellText.word(name)
                    : "use " + ShellText.pair("--type", name, "utf8") + " to keep the JSON text";
            throw new BadValueException(problem, advice == null ? text : advice);
        }
        if (present) {
            give(sink);
        } else {
            sink.setNull();
        }
    }

    abstract void give(ValueSink sink) throws BadValueException;
}
