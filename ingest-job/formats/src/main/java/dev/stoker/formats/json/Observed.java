package dev.stoker.formats.json;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongFunction;
import java.util.stream.Collectors;

/** What the first rows have at one path. Not thread-safe. */
final class Observed {
    /** Kinds of values. */
    enum Kind {
        BOOL("bool"),
        INT("integer"),
        BIG("integer beyond int64"),
        FLOAT("number"),
        TEXT("text"),
        OBJECT("object"),
        EMPTY("empty list"),
        NULL_ITEM("null in a list");

        private final String words;

        Kind(String words) {
            this.words = words;
        }

        String words() {
            return words;
        }
    }

    /** Line of the first value of each kind. */
    private final Map<Kind, Long> lines = new EnumMap<>(Kind.class);
    /** Number of lists around the values, or -1 before the first value. */
    private int depth = -1;
    /** Number of lists around an empty list, that list included. */
    private int emptyDepth;

    private long otherDepthLine;
    private int otherDepth = -1;
    /** Values that objects in lists gave. */
    private long values;
    /** Objects in lists. */
    private long objects;

    void see(Kind kind, int atDepth, long line) {
        lines.putIfAbsent(kind, line);
        if (kind == Kind.EMPTY) {
            emptyDepth = Math.max(emptyDepth, atDepth);
        } else if (kind != Kind.NULL_ITEM) {
            if (depth >= 0 && depth != atDepth && otherDepth < 0) {
                otherDepth = atDepth;
                otherDepthLine = line;
            }
            depth = depth < 0 ? atDepth : depth;
        }
    }

    void countValue() {
        values++;
    }

    void countObject() {
        objects++;
    }

    long values() {
        return values;
    }

    long objects() {
        return objects;
    }

    int depth() {
        return depth < 0 ? emptyDepth : depth;
    }

    boolean has(Kind kind) {
        return lines.containsKey(kind);
    }

    long line(Kind kind) {
        return Objects.requireNonNull(lines.get(kind), "the rows have the kind");
    }

    /** Returns whether values are nested in different numbers of lists. */
    boolean isUneven() {
        return otherDepth >= 0 || (depth >= 0 && emptyDepth > depth);
    }

    boolean isUnknown() {
        return depth < 0;
    }

    /**
     * Returns the kinds with their places, such as "integer in line 1, text in line 7".
     *
     * @param places says where a row is
     */
    String words(LongFunction<String> places) {
        String kinds = lines.entrySet().stream()
                .map(kind -> lists(kind.getKey() == Kind.EMPTY ? 0 : Math.max(0, depth)) + kind.getKey().words + " in "
                        + places.apply(kind.getValue()))
                .collect(Collectors.joining(", "));
        return otherDepth < 0 ? kinds : kinds + ", " + lists(otherDepth) + "value in " + places.apply(otherDepthLine);
    }

    private static String lists(int depth) {
        return "list of ".repeat(depth);
    }

    String sourceType() {
        return lines.keySet().stream()
                .filter(kind -> lines.size() == 1 || kind != Kind.EMPTY)
                .map(kind -> lists(kind == Kind.EMPTY ? 0 : Math.max(0, depth)) + kind.words)
                .collect(Collectors.joining(" or "));
    }
}
