package dev.stoker.formats.values;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import dev.stoker.formats.BadValueException;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.Base64;

/**
 * Reads numbers and bytes of JSON, and words tokens and errors of the parser for people: one rule for files and topics.
 */
public final class JsonTokens {
    private static final int SHOWN = 120;
    /** Begins the parser's own message. */
    private static final String TWICE = "Duplicate field ";

    private JsonTokens() {}

    /** Returns the parser's integer, or its bits if it is unsigned. */
    public static long toLong(JsonParser parser, boolean unsigned) throws IOException, BadValueException {
        if (parser.getNumberType() != JsonParser.NumberType.BIG_INTEGER) {
            long value = parser.getLongValue();
            if (unsigned && value < 0) {
                throw new BadValueException(value + " does not fit into uint64");
            }
            return value;
        }
        BigInteger value = parser.getBigIntegerValue();
        if (!unsigned || value.signum() < 0 || value.bitLength() > 64) {
            throw new BadValueException(
                    Utf8.shown(parser.getText()) + " does not fit into " + (unsigned ? "uint64" : "int64"));
        }
        return value.longValue();
    }

    /** Returns the parser's floating-point number. */
    public static double toNumber(JsonParser parser) throws IOException, BadValueException {
        double value = parser.getDoubleValue();
        if (Double.isInfinite(value)) {
            throw new BadValueException(Utf8.shown(parser.getText()) + " is too large for a float64");
        }
        return value;
    }

    /** Returns the parser's integer as a floating-point number of a type, which must hold it exactly. */
    public static double toDouble(JsonParser parser, ScalarType type) throws IOException, BadValueException {
        return parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER
                ? Numbers.toDouble(parser.getText(), type)
                : Numbers.exact(parser.getLongValue(), type);
    }

    /** Returns the parser's bool, or 0 and 1. */
    public static long toBool(JsonParser parser) throws IOException, BadValueException {
        if (parser.currentToken().isBoolean()) {
            return parser.getBooleanValue() ? 1 : 0;
        }
        long value = parser.currentToken() == JsonToken.VALUE_NUMBER_INT ? toLong(parser, false) : -1;
        if (value != 0 && value != 1) {
            throw new BadValueException(shown(parser) + " is not true, false, 1 or 0");
        }
        return value;
    }

    /** Returns the bytes of the parser's text, which is base64, as JSON has no bytes. */
    public static ByteBuffer toBytes(JsonParser parser) throws IOException, BadValueException {
        try {
            return ByteBuffer.wrap(Base64.getDecoder().decode(parser.getText()));
        } catch (IllegalArgumentException e) {
            throw new BadValueException(shown(parser) + " is not base64, as bytes in JSON are");
        }
    }

    /** Adds the parser's current number. Bools are 0 and 1 in lists of uint8. */
    public static void add(JsonParser parser, NumberList numbers, ScalarType element)
            throws IOException, BadValueException {
        switch (parser.currentToken()) {
            case VALUE_NUMBER_INT -> {
                if (element.isFloat()) {
                    numbers.add(toDouble(parser, element));
                } else if (element == ScalarType.UINT64) {
                    numbers.addBits(toLong(parser, true));
                } else {
                    numbers.add(toLong(parser, false));
                }
            }
            case VALUE_NUMBER_FLOAT -> {
                if (!element.isFloat()) {
                    throw new BadValueException(shown(parser) + " is not an " + element);
                }
                numbers.add(toNumber(parser));
            }
            case VALUE_TRUE, VALUE_FALSE -> {
                if (element != ScalarType.UINT8) {
                    throw new BadValueException("a bool is not " + element);
                }
                numbers.add(parser.getBooleanValue() ? 1L : 0L);
            }
            default -> throw new BadValueException(words(parser.currentToken()) + " is not " + element);
        }
    }

    /** Returns what a value is, such as "a number". */
    public static String words(JsonToken token) {
        return switch (token) {
            case START_OBJECT -> "an object";
            case START_ARRAY -> "a list";
            case VALUE_STRING -> "text";
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> "a number";
            case VALUE_TRUE, VALUE_FALSE -> "a bool";
            default -> "null";
        };
    }

    /** Returns the parser's current value for messages, such as "the number '1.5'". */
    public static String shown(JsonParser parser) throws IOException {
        return switch (parser.currentToken()) {
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> "the number " + Utf8.shown(parser.getText());
            case VALUE_STRING -> "the text " + Utf8.shown(parser.getText());
            default -> words(parser.currentToken());
        };
    }

    /** Returns why a text is not JSON. */
    public static String reason(JsonProcessingException e) {
        String message = e.getOriginalMessage();
        if (message.contains("ALLOW_NON_NUMERIC_NUMBERS")) {
            return "NaN and Infinity are not JSON; write null";
        }
        if (message.startsWith(TWICE)) {
            return "it has the key " + message.substring(TWICE.length()).replaceAll("\\p{Cntrl}", "?") + " twice";
        }
        if (message.startsWith("Document nesting depth")) {
            return "it has too many levels of lists and objects in each other";
        }
        String shown = message.length() > SHOWN ? message.substring(0, SHOWN) + "…" : message;
        return shown.replaceAll("\\p{Cntrl}", "?")
                + (e.getLocation() == null
                        ? ""
                        : " at column " + e.getLocation().getColumnNr());
    }
}
