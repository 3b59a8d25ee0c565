package dev.stoker.formats.json;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.InferenceLimits;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.json.JsonSchema.Keep;
import dev.stoker.formats.json.JsonSchema.Refused;
import dev.stoker.formats.json.Observed.Kind;
import dev.stoker.formats.values.Utf8;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.text.ShellText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/** Infers the columns of a file or topic from its first objects. Not thread-safe. */
final class JsonInference {
    private static final int MAX_PATHS = 100_000;

    private final LongFunction<String> places;
    private final Map<String, FieldType> declared;
    private final Map<String, Observed> paths = new LinkedHashMap<>();
    private final Map<String, String> parents = new LinkedHashMap<>();
    /** The paths of objects with keys. */
    private final Set<String> withKeys = new HashSet<>();
    /** Paths that a key with dots and a key of an object inside give, so that both would be one column. */
    private final Set<String> twice = new HashSet<>();

    /** Number of the object that is read. */
    private long row;

    private int good;

    /** @param places says where an object is, by its number, such as "line 3" */
    JsonInference(LongFunction<String> places, Map<String, FieldType> declared) {
        this.places = places;
        this.declared = declared;
    }

    /** Reads the first lines of a file. A damaged row is left to the reader, unless there are no others. */
    static RowSchema infer(JsonLine line, InferenceLimits sample, Map<String, FieldType> declared) throws IOException {
        JsonInference inference = new JsonInference(row -> "line " + row, declared);
        DamagedFileException first = null;
        for (int rows = 0; rows < sample.rows() && line.next(sample.bytes()); rows++) {
            try {
                line.parse(parser -> inference.see(parser, line.number()));
            } catch (DamagedFileException e) {
                first = first == null ? e : first;
            }
        }
        JsonSchema schema = inference.schema();
        if (schema.objects() == 0 && first != null) {
            throw first;
        }
        return schema.rows();
    }

    /** Reads an object, whose first token is the parser's current one. */
    void see(JsonParser parser, long number) throws IOException {
        row = number;
        object(parser, "", 0);
        good++;
    }

    private void object(JsonParser parser, String prefix, int depth) throws IOException {
        String parent = prefix.isEmpty() ? "" : prefix.substring(0, prefix.length() - 1);
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String path = prefix + parser.currentName();
            parser.nextToken();
            Observed observed = paths.get(path);
            if (observed == null) {
                if (paths.size() == MAX_PATHS) {
                    throw new NotJsonException("the rows have more than " + MAX_PATHS + " different keys", null);
                }
                observed = new Observed();
                paths.put(path, observed);
                parents.put(path, parent);
            } else if (!parent.equals(parents.get(path))) {
                twice.add(path);
            }
            withKeys.add(parent);
            observed.countValue();
            value(parser, path, observed, depth);
        }
    }

    private void value(JsonParser parser, String path, Observed observed, int depth) throws IOException {
        if (declared.containsKey(path)) {
            parser.skipChildren();
            return;
        }
        switch (parser.currentToken()) {
            case START_OBJECT -> {
                observed.see(Kind.OBJECT, depth, row);
                observed.countObject();
                object(parser, path + ".", depth);
            }
            case START_ARRAY -> {
                boolean empty = true;
                while (parser.nextToken() != JsonToken.END_ARRAY) {
                    empty = false;
                    value(parser, path, observed, depth + 1);
                }
                if (empty) {
                    observed.see(Kind.EMPTY, depth + 1, row);
                }
            }
            case VALUE_NULL -> {
                if (depth > 0) {
                    observed.see(Kind.NULL_ITEM, depth, row);
                }
            }
            default -> observed.see(scalar(parser), depth, row);
        }
    }

    private static Kind scalar(JsonParser parser) throws IOException {
        return switch (parser.currentToken()) {
            case VALUE_TRUE, VALUE_FALSE -> Kind.BOOL;
            case VALUE_NUMBER_INT -> parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER ? Kind.BIG : Kind.INT;
            case VALUE_NUMBER_FLOAT -> Kind.FLOAT;
            default -> Kind.TEXT;
        };
    }

    JsonSchema schema() {
        List<RowColumn> columns = new ArrayList<>();
        List<Refused> refused = new ArrayList<>();
        Map<String, FieldType> missing = new LinkedHashMap<>(declared);
        paths.forEach((path, observed) -> {
            FieldType type = declared.get(path);
            if (type != null) {
                missing.remove(path);
                columns.add(new RowColumn(path, type, true, "json", RowColumn.Role.NONE));
            } else if (isStruct(observed)) {
                if (!withKeys.contains(path)) {
                    refused.add(asText(path, "object", "its objects have no keys", path));
                }
            } else {
                Refused refusal = refusal(path, observed);
                if (refusal == null) {
                    columns.add(column(path, observed));
                } else {
                    refused.add(refusal);
                }
            }
        });
        missing.forEach((path, type) -> columns.add(RowColumn.absent(path, type)));
        return new JsonSchema(columns, refused, good);
    }

    /** Returns whether the path has only objects, in at most one list, of which some may be null. */
    private static boolean isStruct(Observed observed) {
        return observed.has(Kind.OBJECT)
                && !observed.isUneven()
                && observed.depth() <= 1
                && !observed.has(Kind.BOOL)
                && !observed.has(Kind.INT)
                && !observed.has(Kind.BIG)
                && !observed.has(Kind.FLOAT)
                && !observed.has(Kind.TEXT)
                && (!observed.has(Kind.NULL_ITEM) || observed.depth() == 1);
    }

    private @Nullable Refused refusal(String path, Observed observed) {
        String source = observed.sourceType();
        if (twice.contains(path)) {
            return new Refused(
                    path,
                    source,
                    "the key " + Utf8.shown(path) + " and a key of an object inside have this name; rename one of them",
                    "",
                    null);
        }
        String parent = refusedParent(path);
        if (parent != null) {
            return asText(
                    path, source, "it is inside of " + Utf8.shown(parent) + ", which cannot be read as fields", parent);
        }
        int kinds = count(observed, Kind.BOOL)
                + count(observed, Kind.TEXT)
                + count(observed, Kind.OBJECT)
                + Math.max(count(observed, Kind.INT), Math.max(count(observed, Kind.FLOAT), count(observed, Kind.BIG)));
        if (observed.isUnknown() && !observed.has(Kind.NULL_ITEM)) {
            return new Refused(
                    path,
                    source,
                    (observed.has(Kind.EMPTY) ? "all its lists are empty" : "all its values are null")
                            + " in the first rows",
                    "; give its type with " + ShellText.pair("--type", path, "…"),
                    null);
        }
        if (kinds > 1 || observed.isUneven()) {
            return asText(path, source, "its values have different types: " + observed.words(places), path);
        }
        String withNull = withNullItem(path);
        if (withNull != null) {
            return nullItem(path, observed, withNull);
        }
        if (observed.has(Kind.BIG)) {
            return big(path, observed);
        }
        int depth = observed.depth();
        if (depth > 2 || (depth == 2 && kinds == 1 && !isNumber(observed))) {
            return asText(
                    path,
                    source,
                    "lists of lists of " + (isNumber(observed) ? "lists" : "other values than numbers")
                            + " are not supported",
                    path);
        }
        return isAligned(path) ? null : asText(path, source, "some objects of the list do not have it", parent(path));
    }

    private Refused big(String path, Observed observed) {
        String reason = "a number in " + places.apply(observed.line(Kind.BIG)) + " does not fit into int64";
        if (observed.depth() > 2 || observed.has(Kind.FLOAT)) {
            return asText(path, observed.sourceType(), reason, path);
        }
        String lists = "[]".repeat(observed.depth());
        return new Refused(
                path,
                observed.sourceType(),
                reason,
                "; use " + ShellText.pair("--type", path, "uint64" + lists) + ", "
                        + ShellText.pair("--type", path, "float64" + lists) + ", or "
                        + ShellText.pair("--type", path, "utf8") + " to keep its digits",
                new Keep(path, FieldType.parse("uint64" + lists)));
    }

    /**
     * Refuses a column. Only its JSON text, or the JSON text of an object around it, can be stored.
     *
     * @param kept path of the value whose text can be stored
     */
    private static Refused asText(String path, String source, String reason, String kept) {
        return new Refused(path, source, reason, option(kept), new Keep(kept, ScalarType.UTF8));
    }

    private static int count(Observed observed, Kind kind) {
        return observed.has(kind) ? 1 : 0;
    }

    private static boolean isNumber(Observed observed) {
        return observed.has(Kind.INT) || observed.has(Kind.FLOAT);
    }

    private @Nullable String refusedParent(String path) {
        for (String up = parent(path); !up.isEmpty(); up = parent(up)) {
            if (!isStruct(observed(up))) {
                return up;
            }
        }
        return null;
    }

    /** Returns the path, or an object around it, that has a null item in its list: its fields are null then. */
    private @Nullable String withNullItem(String path) {
        for (String at = path; !at.isEmpty(); at = parent(at)) {
            if (observed(at).has(Kind.NULL_ITEM)) {
                return at;
            }
        }
        return null;
    }

    private String parent(String path) {
        return Objects.requireNonNull(parents.get(path), "each path has a parent");
    }

    private Observed observed(String path) {
        return Objects.requireNonNull(paths.get(path), "each parent is a path");
    }

    /** Returns whether each object of a list has a value here, so that parallel lists have the same length. */
    private boolean isAligned(String path) {
        for (String at = path; !parent(at).isEmpty(); at = parent(at)) {
            Observed parent = observed(parent(at));
            if (parent.depth() == 0) {
                return true;
            }
            if (observed(at).values() != parent.objects()) {
                return false;
            }
        }
        return true;
    }

    private static String option(String path) {
        return "; use " + ShellText.pair("--type", path, "utf8") + " to keep the JSON text";
    }

    /**
     * Refuses a list with null items.
     *
     * @param list the path of the list: the column, or an object around it
     */
    private Refused nullItem(String path, Observed observed, String list) {
        String source = observed.sourceType();
        String reason = "an item of its list in " + places.apply(observed(list).line(Kind.NULL_ITEM)) + " is null";
        if (observed.depth() != 1 || observed.isUnknown()) {
            return asText(path, source, reason, list);
        }
        String type = element(observed) + "?[]";
        String advice = "; use " + ShellText.pair("--type", path, type) + " to keep it, or "
                + ShellText.pair("--type", list, "utf8") + " to keep the JSON text";
        return new Refused(path, source, reason, advice, new Keep(path, FieldType.parse(type)));
    }

    private static String element(Observed observed) {
        // There are no lists of bool.
        String bool = observed.depth() == 0 ? "bool" : "uint8";
        return observed.has(Kind.TEXT)
                ? "utf8"
                : observed.has(Kind.BOOL) ? bool : observed.has(Kind.FLOAT) ? "float64" : "int64";
    }

    private static RowColumn column(String path, Observed observed) {
        FieldType type = FieldType.parse(element(observed) + "[]".repeat(observed.depth()));
        return new RowColumn(path, type, true, observed.sourceType(), RowColumn.Role.NONE);
    }
}
