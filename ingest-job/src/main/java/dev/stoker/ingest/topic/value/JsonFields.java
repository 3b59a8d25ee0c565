package dev.stoker.ingest.topic.value;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stoker.connectors.kafka.SourceRecord;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.text.ShellText;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Infers the fields of JSON values from the first values. */
public final class JsonFields {

    private static final ObjectMapper MAPPER =
            new ObjectMapper(JsonRecordValues.FACTORY).enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

    private JsonFields() {}

    /** The kind of a value that is no list. */
    private enum Kind {
        BOOL("bool"),
        WHOLE("whole numbers"),
        BIG("whole numbers beyond int64"),
        REAL("numbers"),
        TEXT("text"),
        OBJECT("objects"),
        NULL_ITEM("null in a list");

        private final String words;

        Kind(String words) {
            this.words = words;
        }

        static Kind of(JsonNode node) {
            return switch (node.getNodeType()) {
                case BOOLEAN -> BOOL;
                case NUMBER -> !node.isIntegralNumber() ? REAL : node.canConvertToLong() ? WHOLE : BIG;
                case STRING -> TEXT;
                case NULL -> NULL_ITEM;
                default -> OBJECT;
            };
        }
    }

    /** A member over all records. */
    private static final class Member {
        private final EnumSet<Kind> kinds = EnumSet.noneOf(Kind.class);
        /** The numbers of lists around the values. */
        private final SortedSet<Integer> depths = new TreeSet<>();

        private int present;

        void see(JsonNode value, int depth) {
            if (value.isArray()) {
                value.forEach(item -> see(item, depth + 1));
                return;
            }
            Kind kind = Kind.of(value);
            kinds.add(kind);
            if (kind != Kind.NULL_ITEM) {
                depths.add(depth);
            }
        }

        /** Returns the type of the field; empty if the values have none. */
        Optional<String> type() {
            EnumSet<Kind> left = EnumSet.copyOf(kinds);
            if (left.contains(Kind.REAL)) {
                left.remove(Kind.WHOLE);
            }
            if (left.size() != 1 || depths.size() != 1) {
                return Optional.empty();
            }
            int depth = depths.first();
            // There are no lists of bool.
            String element = switch (left.iterator().next()) {
                case BOOL -> depth == 0 ? "bool" : depth == 1 ? "uint8" : "";
                case WHOLE -> "int64";
                case REAL -> "float64";
                case TEXT -> depth <= 1 ? "utf8" : "";
                default -> "";
            };
            return element.isEmpty() || depth > 2 ? Optional.empty() : Optional.of(element + "[]".repeat(depth));
        }

        /** Returns the type that holds values of which {@link #type} does not hold all; empty if there is none. */
        Optional<String> wider() {
            boolean isBig =
                    kinds.contains(Kind.BIG) && EnumSet.of(Kind.WHOLE, Kind.BIG).containsAll(kinds);
            if (isBig && depths.size() == 1 && depths.first() <= 1) {
                return Optional.of("uint64" + "[]".repeat(depths.first()));
            }
            if (!kinds.contains(Kind.NULL_ITEM)) {
                return Optional.empty();
            }
            return withoutNulls()
                    .type()
                    .filter(found -> found.indexOf('[') == found.length() - 2)
                    .map(found -> found.replace("[]", "?[]"));
        }

        private Member withoutNulls() {
            Member other = new Member();
            other.kinds.addAll(kinds);
            other.kinds.remove(Kind.NULL_ITEM);
            other.depths.addAll(depths);
            return other;
        }

        /** Returns why the values have no type. */
        String problem() {
            if (kinds.contains(Kind.OBJECT)) {
                return "it has objects, which do not become fields";
            }
            if (kinds.contains(Kind.BIG)
                    && EnumSet.of(Kind.WHOLE, Kind.BIG, Kind.REAL).containsAll(kinds)) {
                return "some of its numbers do not fit into int64";
            }
            if (kinds.contains(Kind.NULL_ITEM)) {
                return "an item of its lists is null";
            }
            if (depths.size() > 1) {
                return "some of its values are in more lists than others";
            }
            if (kinds.size() == 1) {
                return depths.first() > 2
                        ? "it has lists of lists of lists"
                        : "its lists of lists have other values than numbers";
            }
            return "its values have different types: "
                    + kinds.stream().map(kind -> kind.words).collect(Collectors.joining(", "));
        }
    }

    /**
     * Infers the small fields of the records' values, in the order of their first appearance. A member that is missing
     * or null in a record becomes a nullable field. Records that are not JSON objects are ignored and will become dead
     * letters.
     *
     * @param notes receives a sentence for each member that is ignored
     */
    public static List<Field> infer(List<SourceRecord> records, List<String> notes) {
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
                if (!property.getValue().isNull()) {
                    member.present++;
                    member.see(property.getValue(), 0);
                }
            });
        }
        if (objects == 0) {
            throw new InvalidIngestException(
                    "the topic has no JSON object to infer the fields from; give them with" + " --schema NAME:TYPE");
        }
        List<Field> fields = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        for (Map.Entry<String, Member> entry : members.entrySet()) {
            field(entry.getKey(), entry.getValue(), objects, notes, problems, fields);
        }
        if (!problems.isEmpty()) {
            problems.add(advice(members, objects, problems.size(), fields));
            throw new InvalidIngestException(problems);
        }
        return fields;
    }

    /** Returns the schemas that keep the members without a type, and leave them out. */
    private static String advice(Map<String, Member> members, int objects, int problems, List<Field> fields) {
        String these = problems == 1 ? "this member" : "these members";
        List<Field> all = new ArrayList<>(fields);
        members.forEach((name, member) -> member.wider()
                .ifPresent(type -> all.add(new Field(name, FieldType.parse(type), member.present < objects, false))));
        String keep =
                all.size() < fields.size() + problems ? "" : "to keep " + these + ", give --schema " + schema(all);
        if (fields.isEmpty()) {
            return keep.isEmpty() ? "select the members that become fields with --schema NAME:TYPE" : keep;
        }
        return keep + (keep.isEmpty() ? "to" : "; to") + " leave out " + these + ", give the others: --schema "
                + schema(fields);
    }

    private static String schema(List<Field> fields) {
        return ShellText.word(fields.stream()
                .map(field -> field.name() + ":" + field.type().canonical() + (field.nullable() ? "?" : ""))
                .collect(Collectors.joining(",")));
    }

    private static void field(
            String name, Member member, int objects, List<String> notes, List<String> problems, List<Field> fields) {
        if (name.equals(Field.KEY)) {
            notes.add("the member key is ignored: key is the name of the sample's key");
            return;
        }
        if (member.depths.isEmpty() && !member.kinds.contains(Kind.NULL_ITEM)) {
            notes.add("the member " + name + " is ignored: it has no value in the first records");
            return;
        }
        try {
            Optional<String> type = member.type();
            if (type.isPresent()) {
                fields.add(new Field(name, FieldType.parse(type.get()), member.present < objects, false));
            } else {
                problems.add("the member " + name + " of the JSON values in the first records: " + member.problem());
            }
        } catch (IllegalArgumentException e) {
            problems.add("a member of the JSON values cannot become a field: " + e.getMessage());
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
    public static Map<String, Long> sizes(SourceRecord record) {
        Map<String, Long> sizes = new LinkedHashMap<>();
        JsonNode object = parse(record);
        if (object != null) {
            object.properties().forEach(property -> sizes.put(property.getKey(), size(property.getValue())));
        }
        return sizes;
    }

    private static long size(JsonNode value) {
        if (!value.isArray()) {
            return value.isTextual() ? value.textValue().length() : 8;
        }
        long size = 0;
        for (JsonNode item : value) {
            size += size(item);
        }
        return size;
    }
}
