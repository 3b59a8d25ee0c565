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
import dev.stoker.schemas.values.Utf8Check;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;

/** Parses one JSON object after the other strictly: a line of a file, or a record of a topic. Not thread-safe. */
final class JsonObjects {
    private static final int MAX_NUMBER = 1000;
    /** Bytes by which the parser guesses the encoding. */
    private static final int ENCODING_BYTES = 4;

    /** Gets the content of an object. */
    @FunctionalInterface
    interface Visitor {
        /** Reads an object, whose first token is the parser's current one, to its last token. */
        void visit(JsonParser parser) throws IOException;
    }

    private final JsonFactory factory;
    private final String place;
    private final String arrayAdvice;
    private byte[] bytes = {};
    private int start;

    /**
     * @param place the name of the place that contains one object, such as "line"
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
                // Names come from files and topics. If they were interned, they could fill the process's tables. The
                // factory's own table is bounded, and begins again if it is full.
                .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
                .disable(JsonFactory.Feature.FAIL_ON_SYMBOL_HASH_OVERFLOW)
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
    void parse(byte[] array, int from, int to, long base, Visitor visitor) throws IOException {
        bytes = array;
        start = from;
        requireUtf8(from, to, base);
        try (JsonParser parser = factory.createParser(array, from, to - from)) {
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

    /** Checks the bytes. The parser accepts some that are not UTF-8, and guesses the encoding by the first ones. */
    private void requireUtf8(int from, int to, long base) throws NotJsonException {
        if (!Utf8Check.isValid(ByteBuffer.wrap(bytes, from, to - from))) {
            int bad = Utf8.decode(bytes, from, to, CharBuffer.allocate(to - from));
            throw new NotJsonException("byte " + (base + bad) + " is not UTF-8", null);
        }
        for (int i = from; i < Math.min(from + ENCODING_BYTES, to); i++) {
            if (bytes[i] == 0) {
                throw new NotJsonException("byte " + (base + i) + " is 0; the text must be UTF-8", null);
            }
        }
        if (bomLength(bytes, from, to) > 0) {
            throw new NotJsonException("a byte order mark is not at the beginning of the text", null);
        }
    }

    /**
     * Returns the text of the object or list that begins with the parser's current token, and skips it. It is valid
     * until another object is parsed.
     */
    ByteBuffer text(JsonParser parser) throws IOException {
        int from = start + (int) parser.currentTokenLocation().getByteOffset();
        parser.skipChildren();
        int to = start + (int) parser.currentLocation().getByteOffset();
        return ByteBuffer.wrap(bytes, from, to - from);
    }
}
