package dev.stoker.ingest.topic;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.stoker.schemas.arrow.DecimalType;
import dev.stoker.schemas.arrow.Field;
import dev.stoker.schemas.arrow.FieldType;
import dev.stoker.schemas.arrow.NestedListType;
import dev.stoker.schemas.arrow.NullableListType;
import dev.stoker.schemas.arrow.ScalarType;
import dev.stoker.schemas.arrow.TimeText;
import dev.stoker.schemas.chunk.ChunkBuilder;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Decodes values that are one flat JSON object. Ignores members for which the dataset has no field. Binary fields are
 * base64 text; lists and tensors are arrays of numbers (tensors in row-major order, not nested). Timestamps, dates and
 * times are ISO 8601 text, or numbers in the unit of the type. Decimals are numbers or text.
 */
final class JsonValues implements ValueDecoder {

    /** The broker limits a record's size; numbers and texts in it need no separate limits. */
    static final JsonFactory FACTORY = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxStringLength(Integer.MAX_VALUE)
                            .build())
                    .build())
            .build()
            .getFactory();

    private final List<Field> fields;
    private final Map<String, Integer> own;
    private final boolean[] seen;
    private final NumberList elements = new NumberList();
    private final NestedItems items = new NestedItems();

    JsonValues(List<Field> fields, Map<String, Integer> own) {
        this.fields = fields;
        this.own = new HashMap<>(own);
        this.seen = new boolean[fields.size()];
    }

    @Override
    public void decode(ByteBuffer value, ChunkBuilder builder) throws PoisonException, IOException {
        try (JsonParser json =
                FACTORY.createParser(value.array(), value.arrayOffset() + value.position(), value.remaining())) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                throw notAnObject("it is not a JSON object");
            }
            Arrays.fill(seen, false);
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                Integer field = own.get(json.currentName());
                json.nextToken();
                if (field == null) {
                    json.skipChildren();
                } else {
                    member(json, field, builder);
                }
            }
            if (json.nextToken() != null) {
                throw notAnObject("more text follows the JSON object");
            }
        } catch (JsonProcessingException e) {
            throw notAnObject("it is not JSON: " + e.getOriginalMessage());
        }
        for (int field : own.values()) {
            if (!seen[field] && !fields.get(field).nullable()) {
                throw new PoisonException(
                        PoisonException.Reason.MISSING_FIELD,
                        "it has no member " + fields.get(field).name());
            }
        }
    }

    private static PoisonException notAnObject(String message) {
        return new PoisonException(PoisonException.Reason.VALUE, message);
    }

    private void member(JsonParser json, int place, ChunkBuilder builder) throws PoisonException, IOException {
        Field field = fields.get(place);
        if (json.currentToken() == JsonToken.VALUE_NULL) {
            return;
        }
        if (seen[place]) {
            throw new PoisonException(PoisonException.Reason.VALUE, "it has the member " + field.name() + " twice");
        }
        seen[place] = true;
        try {
            set(json, place, field, builder);
        } catch (JsonProcessingException e) {
            throw e;
        } catch (IllegalArgumentException e) {
            throw new PoisonException(
                    PoisonException.Reason.FIELD, "its member " + field.name() + ": " + e.getMessage());
        }
    }

    private void set(JsonParser json, int place, Field field, ChunkBuilder builder) throws IOException {
        if (TimeText.isTime(field.type())) {
            builder.setLong(place, time(json, field.type()));
        } else if (field.type() instanceof DecimalType) {
            builder.setDecimal(place, decimal(json));
        } else if (field.type() instanceof NestedListType type) {
            items(json, type);
            builder.setItems(place, items.take());
        } else if (field.type() instanceof NullableListType type) {
            builder.setItems(place, nullableItems(json, type.item()));
        } else if (field.type() instanceof ScalarType type) {
            setScalar(json, place, type, builder);
        } else {
            elements(json, NumberList.elementOf(field.type()).orElseThrow());
            builder.setBytes(place, elements.take());
        }
    }

    private static void setScalar(JsonParser json, int place, ScalarType type, ChunkBuilder builder)
            throws IOException {
        switch (type) {
            case UTF8 -> builder.setString(place, text(json));
            case CATEGORICAL -> builder.setClass(place, text(json));
            case BINARY -> builder.setBytes(place, base64(json));
            case BOOL -> {
                require(json.currentToken().isBoolean(), json, "true or false");
                builder.setLong(place, json.getBooleanValue() ? 1 : 0);
            }
            default -> {
                if (Objects.requireNonNull(type).isFloat()) {
                    require(json.currentToken().isNumeric(), json, "a number");
                    builder.setDouble(place, json.getDoubleValue());
                } else {
                    builder.setLong(place, whole(json, type));
                }
            }
        }
    }

    private static long time(JsonParser json, FieldType type) throws IOException {
        boolean isText = json.currentToken() == JsonToken.VALUE_STRING;
        require(isText || json.currentToken() == JsonToken.VALUE_NUMBER_INT, json, "ISO 8601 text or a whole number");
        return isText ? TimeText.parse(type, json.getText()) : whole(json, ScalarType.INT64);
    }

    private static BigDecimal decimal(JsonParser json) throws IOException {
        boolean isText = json.currentToken() == JsonToken.VALUE_STRING;
        require(isText || json.currentToken().isNumeric(), json, "a number or its text");
        try {
            return isText ? new BigDecimal(json.getText()) : json.getDecimalValue();
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("'" + json.getText() + "' is not a decimal number", e);
        }
    }

    private static ByteBuffer base64(JsonParser json) throws IOException {
        require(json.currentToken() == JsonToken.VALUE_STRING, json, "base64 text");
        return ByteBuffer.wrap(Base64.getDecoder().decode(json.getText()));
    }

    private void items(JsonParser json, NestedListType type) throws IOException {
        require(json.currentToken() == JsonToken.START_ARRAY, json, "an array of " + type.item());
        items.begin();
        while (json.nextToken() != JsonToken.END_ARRAY) {
            if (type.item() == ScalarType.UTF8) {
                items.add(text(json));
            } else if (type.item() == ScalarType.BINARY) {
                items.add(base64(json));
            } else {
                elements(json, NumberList.elementOf(type.item()).orElseThrow());
                items.add(elements.take());
            }
        }
    }

    private List<@Nullable ByteBuffer> nullableItems(JsonParser json, ScalarType type) throws IOException {
        require(json.currentToken() == JsonToken.START_ARRAY, json, "an array of " + type + " or null");
        List<@Nullable ByteBuffer> list = new ArrayList<>();
        while (json.nextToken() != JsonToken.END_ARRAY) {
            if (json.currentToken() == JsonToken.VALUE_NULL) {
                list.add(null);
            } else if (type == ScalarType.UTF8) {
                list.add(ByteBuffer.wrap(text(json).getBytes(StandardCharsets.UTF_8)));
            } else if (type == ScalarType.BINARY) {
                list.add(base64(json));
            } else {
                elements.begin(type);
                element(json, type);
                list.add(elements.copy());
            }
        }
        return list;
    }

    private static String text(JsonParser json) throws IOException {
        require(json.currentToken() == JsonToken.VALUE_STRING, json, "text");
        return json.getText();
    }

    private static long whole(JsonParser json, ScalarType type) throws IOException {
        require(json.currentToken() == JsonToken.VALUE_NUMBER_INT, json, "a whole number");
        if (json.getNumberType() != JsonParser.NumberType.BIG_INTEGER) {
            long value = json.getLongValue();
            if (value < 0 && type == ScalarType.UINT64) {
                throw new IllegalArgumentException(value + " is not between 0 and 2^64");
            }
            return value;
        }
        BigInteger value = json.getBigIntegerValue();
        if (type != ScalarType.UINT64 || value.signum() < 0 || value.bitLength() > 64) {
            throw new IllegalArgumentException(value + " does not fit into " + type);
        }
        return value.longValue();
    }

    private void elements(JsonParser json, ScalarType element) throws IOException {
        require(json.currentToken() == JsonToken.START_ARRAY, json, "an array of numbers");
        elements.begin(element);
        while (json.nextToken() != JsonToken.END_ARRAY) {
            element(json, element);
        }
    }

    private void element(JsonParser json, ScalarType element) throws IOException {
        if (elements.isFloat()) {
            require(json.currentToken().isNumeric(), json, "a number");
            elements.add(json.getDoubleValue());
        } else {
            elements.add(whole(json, element));
        }
    }

    private static void require(boolean holds, JsonParser json, String wanted) {
        if (!holds) {
            throw new IllegalArgumentException(json.currentToken() + " is not " + wanted);
        }
    }
}
