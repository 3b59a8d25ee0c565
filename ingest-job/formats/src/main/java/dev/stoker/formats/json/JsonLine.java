package dev.stoker.formats.json;

import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.input.ByteInput;
import dev.stoker.formats.input.LineBuffer;
import dev.stoker.schemas.errors.ErrorText;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Moves over the lines of a file and parses each one strictly. Not thread-safe. */
final class JsonLine {
    private final ByteInput in;
    private final long limit;
    private final JsonObjects objects;
    private final LineBuffer line = new LineBuffer();
    private long offset;
    /** Number of the line, from 1 on, counted from where the reading began. */
    private long number;
    /** Whether the line was read to its end, so that the next one can be found. */
    private boolean whole;

    JsonLine(ByteInput in, ReadLimits limits) {
        this.in = in;
        this.limit = Math.min(Math.min(limits.valueBytes(), limits.memoryBytes()), Integer.MAX_VALUE - 16);
        this.objects = new JsonObjects(limits, "line", "; jq -c '.[]' makes lines of an array");
    }

    /**
     * Moves to the next line that is not blank.
     *
     * @return false at the end of the file, or if the line begins at or after {@code end}
     */
    boolean next(long end) throws IOException {
        whole = false;
        do {
            offset = in.position();
            if (offset >= end || !in.readLine(line, limit)) {
                return false;
            }
            number++;
        } while (isBlank());
        whole = true;
        return true;
    }

    private boolean isBlank() {
        byte[] bytes = line.bytes();
        int from = bomLength();
        for (int i = from; i < line.length(); i++) {
            if (bytes[i] != ' ' && bytes[i] != '\t' && bytes[i] != '\r' && bytes[i] != '\n') {
                return false;
            }
        }
        return true;
    }

    private int bomLength() {
        return offset == 0 ? JsonObjects.bomLength(line.bytes(), 0, line.length()) : 0;
    }

    /** Returns the offset of the line. */
    long offset() {
        return offset;
    }

    long number() {
        return number;
    }

    /** Returns whether {@link #next} can continue behind a damaged line. */
    boolean isWhole() {
        return whole;
    }

    /** Returns what parses the line. */
    JsonObjects objects() {
        return objects;
    }

    /** Parses the line. */
    void parse(JsonObjects.Visitor visitor) throws IOException {
        try {
            objects.parse(line.bytes(), bomLength(), line.length(), offset, visitor);
        } catch (NotJsonException e) {
            throw damaged(ErrorText.of(e), e.getCause() instanceof IOException cause ? cause : null);
        }
    }

    /** Returns the failure for a line that is sound, but not as the first rows are. */
    DamagedFileException unexpected(String reason) {
        return new DamagedFileException(in.name() + ": the line at offset " + offset + " " + reason);
    }

    private DamagedFileException damaged(String reason, @Nullable IOException cause) {
        return new DamagedFileException(in.name() + ": the line at offset " + offset + " is damaged: " + reason, cause);
    }
}
