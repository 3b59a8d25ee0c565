package dev.stoker.ingest.topic;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stoker.connectors.kafka.SourceRecord;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.schemas.arrow.Field;
import dev.stoker.schemas.arrow.FieldType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Infers the fields of JSON values from the first values. */
final class JsonFields {

    private static final ObjectMapper MAPPER =
            new ObjectMapper(JsonValues.FACTORY).enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

    private JsonFields() {}

    /** The kind of a member, in one record or in all. */
    private enum Kind {
        NULL(""),
        BOOL("bool"),
        WHOLE("int64"),
        REAL("float64"),
        TEXT("utf8"),
        NO_ELEMENTS(""),
        WHOLES("int64[]"),
        REALS("float64[]"),
        OTHER("");

        private final String type;

        Kind(String type) {
            this.type = type;
        }

        static Kind of(JsonNode node) {
            if (node.isArray()) {
                Kind elements = NO_ELEMENTS;
                for (JsonNode element : node) {
                    Kind own = element.isIntegralNumber() ? WHOLES : element.isNumber() ? REALS : OTHER;
                    elements = elements.with(own);
                }
                return elements;
            }
            return switch (node.getNodeType()) {
                case NULL -> NULL;
                case BOOLEAN -> BOOL;
                case NUMBER -> node.isIntegralNumber() ? WHOLE : REAL;
                case STRING -> TEXT;
                default -> OTHER;
            };
        }

        Kind with(Kind other) {
            if (this == other || other == NULL) {
                return this;
            }
            if (this == NULL) {
                return other;
            }
            if (isOf(other, WHOLE, REAL)) {
                return REAL;
            }
            if (isOf(other, WHOLES, REALS)) {
                return REALS;
            }
            if (this == NO_ELEMENTS && (other == WHOLES || other == REALS)) {
                return other;
            }
            return other == NO_ELEMENTS && (this == WHOLES || this == REALS) ? this : OTHER;
        }

        private boolean isOf(Kind other, Kind a, Kind b) {
            return (this == a && other == b) || (this == b && other == a);
        }
    }

    /** A member over all records. */
    private static final class Member {
        private Kind kind = Kind.NULL;
        private int present;
    }

    /**
     * Infers the small fields of the records' values, in the order of their first appearance. A member that is missing
     * or null in a record becomes an optional field. Records that are not JSON objects are ignored and will become dead
     * letters.
     *
     * @param notes receives a sentence for each member that is ignored
     */
    static List<Field> infer(List<SourceRecord> records, List<String> notes) {
        Map<String, Member> members = new LinkedHashMap<>();
        int objects = 0;
        for (SourceRecord record : records) {
            JsonNode object = parse(record);
            if (object == null) {
                continue;
            }
            objects++;
            object.properties().forEach(property -> {
                Member member = members.computeIfAbsent(property.getKey(), name -> new Member());
                Kind kind = Kind.of(property.getValue());
                member.present += kind == Kind.NULL ? 0 : 1;
                member.kind = member.kind.with(kind);
            });
        }
        if (objects == 0) {
            throw new InvalidIngestException(
                    "the topic has no JSON object to infer the fields from; give them with" + " --schema name:type");
        }
        List<Field> fields = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        for (Map.Entry<String, Member> entry : members.entrySet()) {
            field(entry.getKey(), entry.getValue(), objects, notes, problems, fields);
        }
        if (!problems.isEmpty()) {
            throw new InvalidIngestException(problems);
        }
        return fields;
    }

    private static void field(
            String name, Member member, int objects, List<String> notes, List<String> problems, List<Field> fields) {
        if (name.equals(Field.KEY)) {
            notes.add("the member key is ignored: key is the name of the sample's key");
        } else if (member.kind == Kind.NULL || member.kind == Kind.NO_ELEMENTS) {
            notes.add("the member " + name + " is ignored: it has no value in the first records");
        } else if (member.kind == Kind.OTHER) {
            problems.add("the member " + name + " of the JSON values does not have a single simple type in the first"
                    + " records; select the members with --schema name:type");
        } else {
            try {
                fields.add(new Field(name, FieldType.parse(member.kind.type), member.present < objects, false));
            } catch (IllegalArgumentException e) {
                problems.add("a member of the JSON values cannot become a field: " + e.getMessage()
                        + "; select the members with --schema name:type");
            }
        }
    }

    private static @Nullable JsonNode parse(SourceRecord record) {
        ByteBuffer value = record.value();
        try {
            JsonNode node = value == null
                    ? null
                    : MAPPER.readTree(value.array(), value.arrayOffset() + value.position(), value.remaining());
            return node != null && node.isObject() ? node : null;
        } catch (JsonProcessingException e) {
            return null;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The bytes that each member of a record would take as a field, by name. */
    static Map<String, Long> sizes(SourceRecord record) {
        Map<String, Long> sizes = new LinkedHashMap<>();
        JsonNode object = parse(record);
        if (object != null) {
            object.properties().forEach(property -> {
                JsonNode value = property.getValue();
                sizes.put(
                        property.getKey(),
                        value.isTextual() ? value.textValue().length() : value.isArray() ? 8L * value.size() : 8L);
            });
        }
        return sizes;
    }
}
