package dev.stoker.cli.output;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.text.Units;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The columns of a list of results. Each is declared once: its head and cells in a table for people, and its key and
 * values in JSON objects for programs. Cells and keys are in the order of their declaration.
 *
 * @param <R> a result, which is a row of the table and an object of the JSON array
 */
public final class Columns<R> {

    /** Puts a value of a row into its object. */
    private interface Value<R> {
        void put(ObjectNode node, R row);
    }

    private final List<String> heads = new ArrayList<>();
    private final List<Function<? super R, String>> cells = new ArrayList<>();
    private final List<Value<? super R>> values = new ArrayList<>();

    /** Adds a column with text, such as a key or a name. */
    public Columns<R> text(String head, String key, Function<? super R, String> value) {
        return column(head, key, value, KeyText::line);
    }

    /** Adds a column with numbers that are names, such as versions: digits without separators. */
    public Columns<R> number(String head, String key, ToLongFunction<? super R> value) {
        return column(head, key, value::applyAsLong, number -> Long.toString(number));
    }

    /** Adds a column with counts. */
    public Columns<R> count(String head, String key, ToLongFunction<? super R> value) {
        return column(head, key, value::applyAsLong, Units::count);
    }

    /** Adds a column with sizes in bytes. */
    public Columns<R> bytes(String head, String key, ToLongFunction<? super R> value) {
        return column(head, key, value::applyAsLong, Units::bytes);
    }

    /** @param text of a value in the table */
    public <V> Columns<R> column(
            String head, String key, Function<? super R, ? extends V> value, Function<? super V, String> text) {
        return cell(head, row -> text.apply(value.apply(row))).key(key, value);
    }

    /**
     * Adds a column that rows may lack: the cell is blank, and the object does not have the key.
     *
     * @param text of a value in the table
     */
    public <V> Columns<R> optional(
            String head, String key, Function<? super R, Optional<V>> value, Function<? super V, String> text) {
        return cell(head, row -> value.apply(row).map(text).orElse("")).key(key, value);
    }

    /** Adds a column that only the table has. */
    public Columns<R> cell(String head, Function<? super R, String> text) {
        heads.add(head);
        cells.add(text);
        return this;
    }

    /**
     * Adds a key that only the JSON objects have.
     *
     * @param value text, a number, a truth value, a map of them, null, or an {@code Optional} of these; an empty one
     *     leaves out the key
     */
    public Columns<R> key(String key, Function<? super R, ?> value) {
        values.add((node, row) -> {
            Object found = value.apply(row);
            if (!(found instanceof Optional<?> optional)) {
                node.set(key, node(found));
            } else if (optional.isPresent()) {
                node.set(key, node(optional.get()));
            }
        });
        return this;
    }

    /** Converts the usual values quickly: some commands print a line for each of millions of keys. */
    private static JsonNode node(@Nullable Object value) {
        if (value instanceof String text) {
            return Json.PLAIN.getNodeFactory().textNode(text);
        }
        if (value instanceof Long || value instanceof Integer) {
            return Json.PLAIN.getNodeFactory().numberNode(((Number) value).longValue());
        }
        return Json.PLAIN.valueToTree(value);
    }

    /** Prints a table with these rows. */
    public void print(Iterable<? extends R> rows, PrintWriter out) {
        Table table = new Table(heads.toArray(String[]::new));
        for (R row : rows) {
            table.add(cells.stream().map(cell -> cell.apply(row)).toArray(String[]::new));
        }
        table.print(out);
    }

    /** Adds an object for each row to an array, and returns the array. */
    public ArrayNode add(ArrayNode array, Iterable<? extends R> rows) {
        rows.forEach(row -> put(array.addObject(), row));
        return array;
    }

    /** Puts the values of a row into an object, and returns the object. */
    public ObjectNode put(ObjectNode node, R row) {
        values.forEach(value -> value.put(node, row));
        return node;
    }
}
