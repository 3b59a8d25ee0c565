package dev.stoker.formats.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.values.JsonTokens;
import dev.stoker.formats.values.Utf8;
import java.io.IOException;
import java.nio.CharBuffer;

/** Parses one JSON object after the other strictly: a line of a file, or a record of a topic. Not thread-safe. */
final class JsonObjects {
    private static final int MAX_NUMBER = 1000;

    /** Gets the content of an object. */
    @FunctionalInterface
    interface Visitor {
        /** Reads an object, whose first token is the parser's current one, to its last token. */
        void visit(JsonParser parser) throws IOException;
    }

    private final JsonFactory factory;
    private final String place;
    private final String arrayAdvice;
    private CharBuffer chars = CharBuffer.allocate(1 << 12);

    /**
     * @param place what has one object, such as "line"
     * @param arrayAdvice the next step for an array of objects, as the end of a message
     */
    JsonObjects(ReadLimits limits, String place, String arrayAdvice) {
        this.factory = factory(limits);
        this.place = place;
        this.arrayAdvice = arrayAdvice;
    }

    static JsonFactory factory(ReadLimits limits) {
        return JsonFactory.builder()
                .streamReadConstraints(StreamReadConstraints.builder()
                        .maxNestingDepth(limits.depth())
                        .maxNumberLength(MAX_NUMBER)
                        .maxStringLength(Integer.MAX_VALUE)
                        .build())
                // Names come from files and topics. If they were interned, they could fill the process's tables.
                .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
                .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
                .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                .enable(StreamReadFeature.USE_FAST_DOUBLE_PARSER)
                .build();
    }

    /** Returns the length of the byte order mark at an index. */
    static int bomLength(byte[] bytes, int from, int to) {
        return to - from >= 3
                        && bytes[from] == (byte) 0xEF
                        && bytes[from + 1] == (byte) 0xBB
                        && bytes[from + 2] == (byte) 0xBF
                ? 3
                : 0;
    }

    /**
     * Parses an object.
     *
     * @param base offset of the first byte of the array, for messages
     * @throws NotJsonException if the bytes are not one JSON object
     */
    void parse(byte[] bytes, int from, int to, long base, Visitor visitor) throws IOException {
        if (chars.capacity() < to - from) {
            chars = CharBuffer.allocate((int) Math.max(to - from, Math.min(2L * chars.capacity(), 1 << 30)));
        }
        chars.clear();
        int bad = Utf8.decode(bytes, from, to, chars);
        if (bad >= 0) {
            throw new NotJsonException("byte " + (base + bad) + " is not UTF-8", null);
        }
        try (JsonParser parser = factory.createParser(chars.array(), 0, chars.position())) {
            JsonToken first = parser.nextToken();
            if (first == JsonToken.START_ARRAY) {
                throw new NotJsonException("it is an array; each " + place + " must be an object" + arrayAdvice, null);
            }
            if (first != JsonToken.START_OBJECT) {
                throw new NotJsonException("it is not an object such as {\"name\": 1}", null);
            }
            visitor.visit(parser);
            if (parser.nextToken() != null) {
                throw new NotJsonException("there is more than one value in the " + place, null);
            }
        } catch (JsonProcessingException e) {
            throw new NotJsonException(JsonTokens.reason(e), e);
        }
    }

    /** Returns a part of the text that is parsed. */
    String text(long from, long to) {
        return new String(chars.array(), (int) from, (int) (to - from));
    }
}
