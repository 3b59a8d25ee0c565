package dev.stoker.formats.parquet.column;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.huggingface.PayloadPath;
import java.io.IOException;

/** The bytes of a struct of bytes and path. A struct with a path only is refused: the file is not here. */
final class PayloadValue implements Value {
    private final Value bytes;
    private final Value paths;
    private final String name;
    private final PayloadPath path = new PayloadPath();

    PayloadValue(Value bytes, Value paths, String name) {
        this.bytes = bytes;
        this.paths = paths;
        this.name = name;
    }

    @Override
    public void give(long row, ValueSink sink) throws IOException, BadValueException {
        paths.give(row, path);
        bytes.give(row, path.before(sink, name));
    }

    @Override
    public void end(long rows) throws IOException {
        bytes.end(rows);
        paths.end(rows);
    }
}
