package dev.stoker.ingest.topic.value;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.stoker.formats.BadValueException;
import dev.stoker.formats.values.JsonTokens;
import dev.stoker.formats.values.NumberList;
import dev.stoker.formats.values.TextValue;
import dev.stoker.formats.values.Utf8;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TimeText;
import dev.stoker.schemas.chunk.ChunkBuilder;
import java.io.IOException;
import java.math.BigDecimal;
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
final class JsonRecordValues implements ValueDecoder {

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
    /** The fields of which the record has a member, and those with a value. */
    private final boolean[] named;

    private final boolean[] seen;
    private final CheckedNumbers numbers = new CheckedNumbers();
    private final NestedItems items = new NestedItems();
    private ByteBuffer record = ByteBuffer.allocate(0);

    JsonRecordValues(List<Field> fields, Map<String, Integer> own) {
        this.fields = fields;
        this.own = new HashMap<>(own);
        this.named = new boolean[fields.size()];
        this.seen = new boolean[fields.size()];
    }

    @Override
    public void decode(ByteBuffer value, ChunkBuilder builder) throws PoisonException, IOException {
        // The parser accepts some bytes that are not UTF-8.
        if (!Utf8.isValid(value)) {
            throw notAnObject("it is not UTF-8");
        }
        record = value;
        try (JsonParser json =
                FACTORY.createParser(value.array(), value.arrayOffset() + value.position(), value.remaining())) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                throw notAnObject("it is not a JSON object");
            }
            Arrays.fill(named, false);
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
            throw notAnObject("it is not JSON: " + JsonTokens.reason(e));
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
        if (named[place]) {
            throw new PoisonException(PoisonException.Reason.VALUE, "it has the member " + field.name() + " twice");
        }
        named[place] = true;
        if (json.currentToken() == JsonToken.VALUE_NULL) {
            return;
        }
        seen[place] = true;
        try {
            set(json, place, field, builder);
        } catch (JsonProcessingException e) {
            throw e;
        } catch (BadValueException | IllegalArgumentException e) {
            throw new PoisonException(
                    PoisonException.Reason.FIELD, "its member " + field.name() + ": " + e.getMessage());
        }
    }

    private void set(JsonParser json, int place, Field field, ChunkBuilder builder)
            throws IOException, BadValueException {
        if (TimeText.isTime(field.type())) {
            builder.setLong(place, time(json, field.type()));
        } else if (field.type() instanceof DecimalType type) {
            builder.setDecimal(place, decimal(json, type));
        } else if (field.type() instanceof ListType type && type.nullItems()) {
            builder.setItems(place, nullableItems(json, type.element()));
        } else if (field.type() instanceof ListType type && type.items() != null) {
            items(json, type);
            builder.setItems(place, items.take());
        } else if (field.type() instanceof ScalarType type) {
            setScalar(json, place, type, builder);
        } else {
            builder.setBytes(
                    place,
                    list(json, CheckedNumbers.elementOf(field.type()).orElseThrow())
                            .bytes());
        }
    }

    private void setScalar(JsonParser json, int place, ScalarType type, ChunkBuilder builder)
            throws IOException, BadValueException {
        switch (type) {
            case UTF8 -> builder.setString(place, anyText(json));
            case CATEGORICAL -> builder.setClass(place, anyText(json));
            case BINARY -> builder.setBytes(place, base64(json));
            case BOOL -> builder.setLong(place, JsonTokens.toBool(json));
            default -> {
                NumberList one = numbers.begin(Objects.requireNonNull(type));
                number(json, type, one);
                CheckedNumbers.set(builder, place, type, one);
            }
        }
    }

    private static long time(JsonParser json, FieldType type) throws IOException, BadValueException {
        boolean isText = json.currentToken() == JsonToken.VALUE_STRING;
        require(isText || json.currentToken() == JsonToken.VALUE_NUMBER_INT, json, "ISO 8601 text or a whole number");
        return isText ? TimeText.parse(type, json.getText().strip()) : JsonTokens.toLong(json, false);
    }

    private static BigDecimal decimal(JsonParser json, DecimalType type) throws IOException, BadValueException {
        require(
                json.currentToken() == JsonToken.VALUE_STRING
                        || json.currentToken().isNumeric(),
                json,
                "a number or its text");
        return TextValue.decimal(json.getText().strip(), type);
    }

    /** Returns text, or the JSON text of any other value. */
    private String anyText(JsonParser json) throws IOException {
        if (json.currentToken().isScalarValue()) {
            return json.getText();
        }
        long from = json.currentTokenLocation().getByteOffset();
        json.skipChildren();
        byte[] bytes = new byte[(int) (json.currentLocation().getByteOffset() - from)];
        record.get(record.position() + (int) from, bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static ByteBuffer base64(JsonParser json) throws IOException {
        require(json.currentToken() == JsonToken.VALUE_STRING, json, "base64 text");
        return ByteBuffer.wrap(Base64.getDecoder().decode(json.getText()));
    }

    private void items(JsonParser json, ListType type) throws IOException, BadValueException {
        require(json.currentToken() == JsonToken.START_ARRAY, json, "an array of " + type.item());
        items.begin();
        while (json.nextToken() != JsonToken.END_ARRAY) {
            if (type.item() == ScalarType.UTF8) {
                items.add(Utf8.encode(text(json)));
            } else if (type.item() == ScalarType.BINARY) {
                items.add(base64(json));
            } else {
                items.add(list(json, CheckedNumbers.elementOf(type.item()).orElseThrow())
                        .bytes());
            }
        }
    }

    private List<@Nullable ByteBuffer> nullableItems(JsonParser json, ScalarType type)
            throws IOException, BadValueException {
        require(json.currentToken() == JsonToken.START_ARRAY, json, "an array of " + type + " or null");
        List<@Nullable ByteBuffer> list = new ArrayList<>();
        while (json.nextToken() != JsonToken.END_ARRAY) {
            if (json.currentToken() == JsonToken.VALUE_NULL) {
                list.add(null);
            } else if (type == ScalarType.UTF8) {
                list.add(Utf8.encode(text(json)));
            } else if (type == ScalarType.BINARY) {
                list.add(base64(json));
            } else {
                NumberList one = numbers.begin(type);
                number(json, type, one);
                list.add(CheckedNumbers.copy(one));
            }
        }
        return list;
    }

    private static String text(JsonParser json) throws IOException {
        require(json.currentToken() == JsonToken.VALUE_STRING, json, "text");
        return json.getText();
    }

    private NumberList list(JsonParser json, ScalarType element) throws IOException, BadValueException {
        require(json.currentToken() == JsonToken.START_ARRAY, json, "an array of numbers");
        NumberList list = numbers.begin(element);
        while (json.nextToken() != JsonToken.END_ARRAY) {
            number(json, element, list);
        }
        return list;
    }

    private static void number(JsonParser json, ScalarType type, NumberList list)
            throws IOException, BadValueException {
        if (type.isFloat()) {
            require(json.currentToken().isNumeric(), json, "a number");
        } else {
            boolean isBit = type == ScalarType.UINT8 && json.currentToken().isBoolean();
            require(isBit || json.currentToken() == JsonToken.VALUE_NUMBER_INT, json, "a whole number");
        }
        JsonTokens.add(json, list, type);
    }

    private static void require(boolean holds, JsonParser json, String wanted) throws IOException {
        if (!holds) {
            throw new IllegalArgumentException(JsonTokens.shown(json) + " is not " + wanted);
        }
    }
}
