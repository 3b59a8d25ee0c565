package dev.stoker.formats.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.input.ByteInput;
import dev.stoker.formats.input.LineBuffer;
import dev.stoker.formats.values.JsonTokens;
import dev.stoker.formats.values.Utf8;
import java.io.IOException;
import java.nio.CharBuffer;
import org.jspecify.annotations.Nullable;

/** Moves over the lines of a file and parses each one strictly. Not thread-safe. */
final class JsonLine {
    private static final int MAX_NUMBER = 1000;

    /** Gets the content of a line. */
    @FunctionalInterface
    interface Visitor {
        /** Reads an object, whose first token is the parser's current one, to its last token. */
        void visit(JsonParser parser) throws IOException;
    }

    private final ByteInput in;
    private final long limit;
    private final JsonFactory factory;
    private final LineBuffer line = new LineBuffer();
    private CharBuffer chars = CharBuffer.allocate(1 << 12);
    private long offset;
    /** Number of the line, from 1 on, counted from where the reading began. */
    private long number;
    /** Whether the line was read to its end, so that the next one can be found. */
    private boolean whole;

    JsonLine(ByteInput in, ReadLimits limits) {
        this.in = in;
        this.limit = Math.min(Math.min(limits.valueBytes(), limits.memoryBytes()), Integer.MAX_VALUE - 16);
        this.factory = factory(limits);
    }

    static JsonFactory factory(ReadLimits limits) {
        return JsonFactory.builder()
                .streamReadConstraints(StreamReadConstraints.builder()
                        .maxNestingDepth(limits.depth())
                        .maxNumberLength(MAX_NUMBER)
                        .maxStringLength(Integer.MAX_VALUE)
                        .build())
                // Names come from files. If they were interned, a file could fill the process's tables.
                .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
                .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
                .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                .enable(StreamReadFeature.USE_FAST_DOUBLE_PARSER)
                .build();
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
        byte[] b = line.bytes();
        return offset == 0 && line.length() >= 3 && b[0] == (byte) 0xEF && b[1] == (byte) 0xBB && b[2] == (byte) 0xBF
                ? 3
                : 0;
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

    /** Returns a part of the line's text. */
    String text(long from, long to) {
        return new String(chars.array(), (int) from, (int) (to - from));
    }

    /** Parses the line. */
    void parse(Visitor visitor) throws IOException {
        if (chars.capacity() < line.length()) {
            chars = CharBuffer.allocate(Math.max(line.length(), (int) Math.min(limit, 2L * chars.capacity())));
        }
        chars.clear();
        int bad = Utf8.decode(line.bytes(), bomLength(), line.length(), chars);
        if (bad >= 0) {
            throw damaged("byte " + (offset + bad) + " is not UTF-8", null);
        }
        try (JsonParser parser = factory.createParser(chars.array(), 0, chars.position())) {
            JsonToken first = parser.nextToken();
            if (first == JsonToken.START_ARRAY) {
                throw damaged("it is an array; each line must be an object; jq -c '.[]' makes lines of an array", null);
            }
            if (first != JsonToken.START_OBJECT) {
                throw damaged("it is not an object such as {\"name\": 1}", null);
            }
            visitor.visit(parser);
            if (parser.nextToken() != null) {
                throw damaged("there is more than one value in the line", null);
            }
        } catch (JsonProcessingException e) {
            throw damaged(JsonTokens.reason(e), e);
        }
    }

    /** Returns the failure for a line that is sound, but not as the first rows are. */
    DamagedFileException unexpected(String reason) {
        return new DamagedFileException(in.name() + ": the line at offset " + offset + " " + reason);
    }

    DamagedFileException damaged(String reason, @Nullable IOException cause) {
        return new DamagedFileException(in.name() + ": the line at offset " + offset + " is damaged: " + reason, cause);
    }
}
