package dev.stoker.schemas.batch;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.JsonText;
import dev.stoker.schemas.json.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The columns of a stream's batches that one trainer receives. Column 0 is the key, column c is field c-1 of the
 * dataset. A view changes neither the order nor the fingerprint. Immutable.
 */
public final class View {
    /** The tag of the view with all columns, which is the same for all datasets. */
    public static final long WHOLE_TAG = tagOf(textOf(null));

    private static final int TAG_DIGITS = 16;
    private static final int NAMES_SHOWN = 50;

    private final List<String> names;
    private final BitSet columns;
    private final String text;
    private final long tag;

    private View(List<String> names, BitSet columns) {
        this.names = names;
        this.columns = columns;
        this.text = textOf(isWhole() ? null : columns());
        this.tag = tagOf(text);
    }

    /** Returns the view with all columns of a dataset with these fields. */
    public static View whole(List<String> fields) {
        List<String> names = named(fields);
        BitSet all = new BitSet();
        all.set(0, names.size());
        return new View(names, all);
    }

    /**
     * Returns the view with these columns of a dataset.
     *
     * @param fields names of the dataset's fields, in dataset order
     * @param columns names of the wanted columns, in any order
     * @throws IllegalArgumentException if no column is named, or one twice, or one that does not exist
     */
    public static View of(List<String> fields, Collection<String> columns) {
        List<String> names = named(fields);
        if (columns.isEmpty()) {
            throw new IllegalArgumentException("columns is empty: name at least one of " + listed(names));
        }
        Map<String, Integer> numbers = new HashMap<>();
        for (int c = 0; c < names.size(); c++) {
            numbers.put(names.get(c), c);
        }
        BitSet selected = new BitSet();
        for (String column : columns) {
            Integer number = numbers.get(column);
            if (number == null) {
                throw new IllegalArgumentException("columns names '" + column
                        + "', which the dataset does not have: its columns are " + listed(names));
            }
            if (selected.get(number)) {
                throw new IllegalArgumentException(
                        "columns names '" + column + "' twice: the dataset's columns are " + listed(names));
            }
            selected.set(number);
        }
        return new View(names, selected);
    }

    /**
     * Returns the view with the columns of these numbers.
     *
     * @throws IllegalArgumentException if there is none, or one that does not exist
     */
    public static View of(List<String> fields, BitSet columns) {
        List<String> names = named(fields);
        if (columns.isEmpty() || columns.length() > names.size()) {
            throw new IllegalArgumentException(
                    "columns " + columns + ": expected at least one of 0 to " + (names.size() - 1));
        }
        return new View(names, (BitSet) columns.clone());
    }

    /**
     * Reads the {@link #text} of a view of a dataset with these fields.
     *
     * @throws IllegalArgumentException if it is not the text of such a view
     */
    public static View parse(String text, List<String> fields) {
        try {
            JsonNode columns = Json.PLAIN.readTree(text).path("columns");
            View view;
            if (columns.isNull()) {
                view = whole(fields);
            } else {
                List<String> names = new ArrayList<>();
                columns.forEach(name -> names.add(name.asText()));
                view = of(fields, names);
            }
            if (!view.text.equals(text)) {
                throw new IllegalArgumentException("view " + text + ": expected " + view.text);
            }
            return view;
        } catch (IOException e) {
            throw new IllegalArgumentException("view " + text + ": expected JSON", e);
        }
    }

    private static List<String> named(List<String> fields) {
        List<String> names = new ArrayList<>(fields.size() + 1);
        names.add(Field.KEY);
        names.addAll(fields);
        return List.copyOf(names);
    }

    private static String listed(List<String> names) {
        return names.size() <= NAMES_SHOWN
                ? String.join(", ", names)
                : String.join(", ", names.subList(0, NAMES_SHOWN)) + ", … (" + names.size() + " columns)";
    }

    private static String textOf(@Nullable List<String> columns) {
        String list = columns == null ? "null" : JsonText.array(columns);
        return "{\"columns\":" + list + ",\"transform\":null,\"transform_version\":null}";
    }

    private static long tagOf(String text) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return Long.parseUnsignedLong(HexFormat.of().formatHex(hash).substring(0, TAG_DIGITS), 16);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /** Returns a tag as 16 hexadecimal digits. */
    public static String digits(long tag) {
        return HexFormat.of().toHexDigits(tag);
    }

    /** Returns the number of columns of the dataset, including the key. */
    public int available() {
        return names.size();
    }

    /** Returns the numbers of the selected columns. */
    public BitSet selected() {
        return (BitSet) columns.clone();
    }

    /** Returns the numbers of the selected columns, ascending. */
    public int[] numbers() {
        return columns.stream().toArray();
    }

    /** Returns the names of the selected columns, in the order of a message. */
    public List<String> columns() {
        return columns.stream().mapToObj(names::get).toList();
    }

    public boolean includes(int column) {
        return columns.get(column);
    }

    public boolean isWhole() {
        return columns.cardinality() == names.size();
    }

    /** Returns the canonical JSON text. */
    public String text() {
        return text;
    }

    /** Returns the first 64 bits of the text's SHA-256, as sent in every BATCH header. */
    public long tag() {
        return tag;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof View that && names.equals(that.names) && columns.equals(that.columns);
    }

    @Override
    public int hashCode() {
        return Objects.hash(names, columns);
    }

    @Override
    public String toString() {
        return text;
    }
}
