package dev.stoker.formats.huggingface;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ValueSink;
import dev.stoker.schemas.text.ShellText;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Takes the path of a struct of bytes and path, and refuses the struct if it has a path only. For one thread.
 *
 * <p>Give it the path, then give the bytes to {@link #before}.
 */
public final class PayloadPath implements ValueSink {
    private final Bytes bytes = new Bytes();
    private @Nullable ByteBuffer path;
    private @Nullable ValueSink sink;
    private String name = "";

    /**
     * Returns a sink for the bytes, which passes them on.
     *
     * @param sink takes the bytes
     * @param name name of the column, for messages
     */
    public ValueSink before(ValueSink sink, String name) {
        this.sink = sink;
        this.name = name;
        return bytes;
    }

    /**
     * Returns the failure of a struct that has a path only.
     *
     * @param column name of its column
     * @param path the path, UTF-8
     */
    public static BadValueException withoutBytes(String column, ByteBuffer path) {
        return new BadValueException(
                "'" + column + "' has no bytes, only the path '" + StandardCharsets.UTF_8.decode(path.duplicate())
                        + "'",
                "embed the files when you write the dataset, or ingest the paths with --without "
                        + ShellText.word(column));
    }

    @Override
    public void setNull() {
        path = null;
    }

    @Override
    public void setBytes(ByteBuffer value) {
        path = value;
    }

    @Override
    public void setLong(long value) {
        throw wrong();
    }

    @Override
    public void setDouble(double value) {
        throw wrong();
    }

    @Override
    public void setDecimal(BigDecimal value) {
        throw wrong();
    }

    @Override
    public void setBytesList(List<ByteBuffer> items) {
        throw wrong();
    }

    @Override
    public void setLists(ByteBuffer items, int[] lengths) {
        throw wrong();
    }

    private ValueSink sink() {
        return Objects.requireNonNull(sink, "before() was not called");
    }

    private static IllegalStateException wrong() {
        return new IllegalStateException("bytes or text expected");
    }

    private final class Bytes implements ValueSink {
        @Override
        public void setNull() throws BadValueException {
            if (path != null) {
                throw withoutBytes(name, path);
            }
            sink().setNull();
        }

        @Override
        public void setBytes(ByteBuffer value) throws BadValueException {
            sink().setBytes(value);
        }

        @Override
        public void setLong(long value) {
            throw wrong();
        }

        @Override
        public void setDouble(double value) {
            throw wrong();
        }

        @Override
        public void setDecimal(BigDecimal value) {
            throw wrong();
        }

        @Override
        public void setBytesList(List<ByteBuffer> items) {
            throw wrong();
        }

        @Override
        public void setLists(ByteBuffer items, int[] lengths) {
            throw wrong();
        }
    }
}
