package dev.stoker.schemas.order;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.schemas.condition.InvalidExpressionException;
import dev.stoker.schemas.condition.RowExpression;
import dev.stoker.schemas.json.CanonicalJson;
import dev.stoker.schemas.json.Json;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Contains some keys of an order spec, which a trainer requests in place of the feed's defaults. The other side decides
 * all other keys. Immutable.
 */
public final class OrderOverlay {
    /** No keys: the feed's default applies. */
    public static final OrderOverlay NONE = new OrderOverlay(new TreeMap<>());

    private static final String NOT_SET = "not set";

    /** Keys in canonical order. */
    private enum Key {
        FUNCTION,
        SEED,
        BATCH_SIZE,
        LANES,
        SHUFFLE_WINDOW,
        SHUFFLE,
        LANE_ORDER,
        /** Of function 2; a complete spec need not have it. */
        WHERE;

        /** Keys of later order functions. */
        private static final Set<String> RESERVED = Set.of(
                "balance",
                "epoch_samples",
                "pack",
                "batch_by",
                "streams",
                "weights",
                "unit",
                "schedule",
                "per",
                "stop",
                "grain");

        String text() {
            return name().toLowerCase(Locale.ROOT);
        }

        boolean isNumber() {
            return ordinal() <= SHUFFLE_WINDOW.ordinal();
        }
    }

    /** A given key that differs from the spec in force. */
    public record Difference(String key, String given, String inForce) {
        @Override
        public String toString() {
            return key + " is " + inForce + " here, asked for " + given;
        }
    }

    /** Long for numbers, String for names; validated. */
    private final Map<Key, Object> given;

    private OrderOverlay(Map<Key, Object> given) {
        this.given = given;
    }

    /** Returns an overlay with every key of a spec. */
    public static OrderOverlay of(OrderSpec spec) {
        return new OrderOverlay(values(spec));
    }

    /**
     * Reads the given keys. Rejects unknown keys, because they would change the order.
     *
     * @throws IllegalArgumentException that names all problems
     */
    public static OrderOverlay fromJson(String json) {
        try {
            return fromJson(Json.STRICT.readTree(json));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("order spec is not JSON: " + e.getOriginalMessage(), e);
        }
    }

    /**
     * Reads the given keys. Rejects unknown keys, because they would change the order.
     *
     * @throws IllegalArgumentException that names all problems
     */
    public static OrderOverlay fromJson(JsonNode json) {
        if (json == null || !json.isObject()) {
            throw new IllegalArgumentException("order spec: expected a JSON object");
        }
        List<String> problems = new ArrayList<>();
        Map<Key, Object> given = new TreeMap<>();
        for (Map.Entry<String, JsonNode> entry : json.properties()) {
            Key key = key(entry.getKey());
            if (key == null) {
                problems.add(unknown(entry.getKey()));
            } else {
                Object value = value(key, entry.getValue(), problems);
                if (value != null) {
                    given.put(key, value);
                }
            }
        }
        Object function = given.get(Key.FUNCTION);
        if (given.containsKey(Key.WHERE) && function != null && (Long) function == 1) {
            problems.add("function is 1, but where is a key of function 2");
        }
        OrderSpec.refuse(problems);
        return new OrderOverlay(given);
    }

    /** Returns {@code base}, overridden by the given keys. */
    public OrderSpec over(OrderSpec base) {
        Map<Key, Object> merged = values(base);
        merged.putAll(given);
        return build(merged);
    }

    /** Returns the given keys that differ from {@code spec}, in canonical order; empty if it satisfies this overlay. */
    public List<Difference> differences(OrderSpec spec) {
        List<Difference> differences = new ArrayList<>();
        Map<Key, Object> inForce = values(spec);
        given.forEach((key, value) -> {
            if (key != Key.FUNCTION && !value.equals(inForce.get(key))) {
                differences.add(new Difference(key.text(), value.toString(), named(inForce.get(key))));
            }
        });
        Object function = given.get(Key.FUNCTION);
        if (function != null && (Long) function != spec.function() && !given.containsKey(Key.WHERE)) {
            // The function follows from the keys: 1 has no condition.
            String asked = (Long) function == 1 ? NOT_SET : "set";
            differences.add(new Difference(Key.WHERE.text(), asked, named(inForce.get(Key.WHERE))));
        }
        return differences;
    }

    private static String named(@Nullable Object value) {
        return value == null ? NOT_SET : value.toString();
    }

    public boolean isEmpty() {
        return given.isEmpty();
    }

    /** Returns the given keys in canonical order, no spaces. */
    public String toJson() {
        StringBuilder out = new StringBuilder("{");
        given.forEach((key, value) -> {
            out.append(out.length() > 1 ? "," : "")
                    .append('"')
                    .append(key.text())
                    .append("\":");
            out.append(key.isNumber() ? value : CanonicalJson.text((String) value));
        });
        return out.append('}').toString();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof OrderOverlay orderOverlay && given.equals(orderOverlay.given);
    }

    @Override
    public int hashCode() {
        return given.hashCode();
    }

    @Override
    public String toString() {
        return toJson();
    }

    /** Returns the spec if every key is given. */
    OrderSpec complete() {
        List<String> problems = new ArrayList<>();
        for (Key key : Key.values()) {
            if (key != Key.WHERE && !given.containsKey(key)) {
                problems.add(key.text() + " is missing");
            }
        }
        OrderSpec.refuse(problems);
        OrderSpec spec = build(given);
        if (spec.function() != (Long) get(given, Key.FUNCTION)) {
            throw new IllegalArgumentException("order spec: function is " + get(given, Key.FUNCTION)
                    + ", but its keys need function " + spec.function());
        }
        return spec;
    }

    private static OrderSpec build(Map<Key, Object> values) {
        return new OrderSpec(
                (Long) get(values, Key.SEED),
                (int) (long) (Long) get(values, Key.BATCH_SIZE),
                (int) (long) (Long) get(values, Key.LANES),
                (Long) get(values, Key.SHUFFLE_WINDOW),
                ShufflePolicy.valueOf(enumName(get(values, Key.SHUFFLE))),
                LaneOrder.valueOf(enumName(get(values, Key.LANE_ORDER))),
                (String) values.getOrDefault(Key.WHERE, ""));
    }

    private static Object get(Map<Key, Object> values, Key key) {
        return Objects.requireNonNull(values.get(key), "all keys have values");
    }

    private static Map<Key, Object> values(OrderSpec spec) {
        Map<Key, Object> values = new TreeMap<>();
        values.put(Key.FUNCTION, (long) spec.function());
        values.put(Key.SEED, spec.seed());
        values.put(Key.BATCH_SIZE, (long) spec.batchSize());
        values.put(Key.LANES, (long) spec.lanes());
        values.put(Key.SHUFFLE_WINDOW, spec.shuffleWindowBytes());
        values.put(Key.SHUFFLE, spec.shuffle().text());
        values.put(Key.LANE_ORDER, spec.laneOrder().text());
        if (!spec.where().isEmpty()) {
            values.put(Key.WHERE, spec.where());
        }
        return values;
    }

    private static @Nullable Key key(String text) {
        return Arrays.stream(Key.values())
                .filter(k -> k.text().equals(text))
                .findFirst()
                .orElse(null);
    }

    private static String unknown(String key) {
        return Key.RESERVED.contains(key)
                ? key + " is reserved for a later order function; update Stoker"
                : key + " is not a key of an order spec";
    }

    private static @Nullable Object value(Key key, JsonNode node, List<String> problems) {
        return switch (key) {
            case FUNCTION -> {
                Long value = number(key, node, 0, Long.MAX_VALUE, problems);
                if (value != null && (value < 1 || value > OrderSpec.NEWEST_FUNCTION)) {
                    problems.add("function is " + value + ": this version knows 1 to " + OrderSpec.NEWEST_FUNCTION);
                }
                yield value;
            }
            case SEED, SHUFFLE_WINDOW -> number(key, node, 0, Long.MAX_VALUE, problems);
            case BATCH_SIZE -> number(key, node, 1, OrderSpec.MAX_BATCH_SIZE, problems);
            case LANES -> number(key, node, 1, OrderSpec.MAX_LANES, problems);
            case SHUFFLE -> name(key, node, List.of("window", "none"), problems);
            case LANE_ORDER -> name(key, node, List.of("mixed", "fixed"), problems);
            case WHERE -> condition(node, problems);
        };
    }

    private static @Nullable Long number(Key key, JsonNode node, long least, long greatest, List<String> problems) {
        if (node.isIntegralNumber()
                && node.canConvertToLong()
                && node.longValue() >= least
                && node.longValue() <= greatest) {
            return node.longValue();
        }
        String end = greatest == Long.MAX_VALUE ? "2^63-1" : Long.toString(greatest);
        problems.add(key.text() + " is " + shown(node) + ": expected a whole number from " + least + " to " + end);
        return null;
    }

    private static @Nullable String name(Key key, JsonNode node, List<String> names, List<String> problems) {
        if (node.isTextual() && names.contains(node.textValue())) {
            return node.textValue();
        }
        problems.add(key.text() + " is " + shown(node) + ": expected " + String.join(" or ", names));
        return null;
    }

    private static @Nullable String condition(JsonNode node, List<String> problems) {
        if (!node.isTextual() || node.textValue().isEmpty()) {
            problems.add("where is " + shown(node) + ": expected a condition");
            return null;
        }
        try {
            return RowExpression.parse(node.textValue()).canonical();
        } catch (InvalidExpressionException e) {
            problems.add("where: " + e.getMessage());
            return null;
        }
    }

    private static String shown(JsonNode node) {
        String text = node.toString();
        return text.length() > 60 ? text.substring(0, 60) + "…" : text;
    }

    private static String enumName(Object text) {
        return ((String) text).toUpperCase(Locale.ROOT);
    }
}
