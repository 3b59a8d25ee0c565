package dev.stoker.formats.json;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.input.ByteInput;
import java.io.IOException;

/** Reads the lines that begin in a range of bytes. Not thread-safe. */
final class JsonLinesReader implements RowReader {
    private final ByteInput in;
    private final JsonLine line;
    private final JsonRow row;
    private final long start;
    private final long end;
    private boolean started;

    JsonLinesReader(ByteInput in, JsonLine line, JsonRow row, long start, long end) {
        this.in = in;
        this.line = line;
        this.row = row;
        this.start = start;
        this.end = end;
    }

    @Override
    public boolean next() throws IOException {
        if (!started) {
            started = true;
            skipFirst();
        }
        if (!line.next(end)) {
            return false;
        }
        line.parse(row::read);
        return true;
    }

    /** Skips the rest of a line that begins before the part. */
    private void skipFirst() throws IOException {
        if (start > 0) {
            for (int b = in.read(); b >= 0 && b != '\n'; ) {
                b = in.read();
            }
        }
    }

    @Override
    public long position() {
        return line.offset();
    }

    @Override
    public void get(int column, ValueSink sink) throws BadValueException {
        row.emit(column, sink);
    }

    @Override
    public boolean skip() {
        return line.isWhole();
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
