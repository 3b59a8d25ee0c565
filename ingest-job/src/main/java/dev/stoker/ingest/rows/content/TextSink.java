package dev.stoker.ingest.rows.content;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ValueSink;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Takes values of key and split columns as text. For one thread. */
public class TextSink implements ValueSink {
    private final String use;
    private String text = "";

    /** @param use the use of the text, such as "a key" */
    public TextSink(String use) {
        this.use = use;
    }

    /** Returns the last value. */
    public String text() {
        return text;
    }

    private BadValueException refused(String kind) {
        return new BadValueException(kind + " cannot be " + use + "; name a column with text or integers");
    }

    @Override
    public void setNull() throws BadValueException {
        throw new BadValueException("it is null, but " + use + " needs a value");
    }

    @Override
    public void setLong(long value) {
        text = Long.toString(value);
    }

    @Override
    public void setDouble(double value) throws BadValueException {
        throw refused("a floating-point number");
    }

    @Override
    public void setDecimal(BigDecimal value) {
        text = value.toPlainString();
    }

    @Override
    public void setBytes(ByteBuffer bytes) throws BadValueException {
        try {
            CharBuffer decoded = StandardCharsets.UTF_8.newDecoder().decode(bytes.duplicate());
            text = decoded.toString();
        } catch (CharacterCodingException e) {
            throw new BadValueException("it is not UTF-8");
        }
    }

    @Override
    public void setBytesList(List<ByteBuffer> items) throws BadValueException {
        throw refused("a list");
    }

    @Override
    public void setLists(ByteBuffer items, int[] lengths) throws BadValueException {
        throw refused("a list");
    }
}
