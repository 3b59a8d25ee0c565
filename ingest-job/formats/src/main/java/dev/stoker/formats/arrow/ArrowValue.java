package dev.stoker.formats.arrow;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.NullInListException;
import dev.stoker.formats.NullItemException;
import dev.stoker.formats.NullItems;
import dev.stoker.formats.NumberWriter;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.huggingface.PayloadPath;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TensorType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Gives the values of one column from the vectors of a record batch. For one thread. */
final class ArrowValue {
    private static final int ITEM_BYTES = 64;

    private final Column column;
    private final List<Step> steps;
    private final Vec root;
    private final long maxBytes;
    private final @Nullable NumberWriter items;
    private final ByteBuffer[] classes;
    private final boolean nullIsEmpty;
    private int[] lengths = new int[16];

    /**
     * A column of rows and where its values are.
     *
     * @param root index of the field of the schema
     * @param steps the way from the field to the values
     * @param element type of the items of a list, or of the value if it is a number; null for other values
     * @param classes the names of the classes if the values are their numbers
     * @param payload whether values are the bytes of a struct of bytes and path
     */
    record Column(
            RowColumn column,
            int root,
            List<Step> steps,
            @Nullable ScalarType element,
            List<String> classes,
            boolean payload) {}

    /**
     * A step from a field to its child.
     *
     * @param name dotted name of the list or struct, for messages
     * @param child number of the field of a struct; -1 for a list
     * @param payload whether the struct is one of bytes and path
     */
    record Step(String name, int child, boolean payload) {
        static Step list(String name) {
            return new Step(name, -1, false);
        }

        static Step field(String name, int child, boolean payload) {
            return new Step(name, child, payload);
        }

        boolean isList() {
            return child < 0;
        }
    }

    ArrowValue(Column column, Vec root, long maxBytes) {
        this.column = column;
        this.steps = column.steps();
        this.root = root;
        this.maxBytes = maxBytes;
        ScalarType element = column.element();
        items = element != null && element.isNumber() ? new NumberWriter(element, maxBytes) : null;
        classes = column.classes().stream()
                .map(name -> ByteBuffer.wrap(name.getBytes(StandardCharsets.UTF_8)))
                .toArray(ByteBuffer[]::new);
        nullIsEmpty = column.column().role() == RowColumn.Role.PATH;
    }

    /** Exceptions have a clause as their message. */
    void give(int row, ValueSink sink) throws IOException, BadValueException {
        Vec vec = root;
        int at = 0;
        while (at < steps.size() && !steps.get(at).isList()) {
            Step step = steps.get(at);
            if (vec.isNull(row)) {
                sink.setNull();
                return;
            }
            if (column.payload()) {
                checkPath((NestedVectors.Structs) vec, row);
            }
            vec = ((NestedVectors.Structs) vec).fields.get(step.child());
            at++;
        }
        if (vec.isNull(row)) {
            sink.setNull();
        } else if (at == steps.size()) {
            scalar(vec, row, sink);
        } else if (column.column().type() instanceof TensorType) {
            tensor(vec, row, sink);
        } else {
            list((NestedVectors.Lists) vec, row, at + 1, sink);
        }
    }

    private NumberWriter items() {
        return Objects.requireNonNull(items, "the column has numbers");
    }

    private void scalar(Vec vec, int row, ValueSink sink) throws IOException, BadValueException {
        if (classes.length == 0) {
            vec.give(row, sink);
            return;
        }
        items().clear();
        vec.append(row, items());
        long id = classNumber(items().bytes());
        if (id == -1) {
            sink.setNull();
        } else if (id < 0 || id >= classes.length) {
            throw new BadValueException("class " + id + " has no name; the file names " + classes.length);
        } else {
            sink.setBytes(classes[(int) id].duplicate());
        }
    }

    private static long classNumber(ByteBuffer bytes) {
        return switch (bytes.remaining()) {
            case 1 -> bytes.get(0);
            case 2 -> bytes.getShort(0);
            case 4 -> bytes.getInt(0);
            default -> bytes.getLong(0);
        };
    }

    private void checkPath(NestedVectors.Structs struct, int row) throws IOException, BadValueException {
        Vec path = struct.fields.get(1);
        if (struct.fields.get(0).isNull(row) && !path.isNull(row)) {
            throw PayloadPath.withoutBytes(column.column().name(), path.bytes(row));
        }
    }

    /** Gives the numbers of lists of fixed size, which are all next to each other. */
    private void tensor(Vec vec, int row, ValueSink sink) throws IOException, BadValueException {
        long from = row;
        long to = row + 1L;
        Vec level = vec;
        while (level instanceof NestedVectors.FixedLists lists) {
            if (lists.hasNull((int) from, (int) to)) {
                throw nullItem();
            }
            from *= lists.size;
            to *= lists.size;
            level = lists.items;
        }
        numbers(level, (int) from, (int) to, sink);
    }

    private void numbers(Vec vec, int from, int to, ValueSink sink) throws IOException, BadValueException {
        if (vec.hasNull(from, to)) {
            nullableNumbers(vec, from, to, sink);
            return;
        }
        ByteBuffer together = vec.numbers(from, to);
        if (together != null) {
            sink.setBytes(together);
            return;
        }
        items().clear();
        for (int i = from; i < to; i++) {
            append(vec, i);
        }
        sink.setBytes(items().bytes());
    }

    private void nullableNumbers(Vec vec, int from, int to, ValueSink sink) throws IOException, BadValueException {
        if (column.column().type() instanceof TensorType) {
            throw nullItem();
        }
        items().clear();
        for (int i = from; i < to; i++) {
            appendOrNull(vec, i);
        }
        items().give(sink, listName());
    }

    private void appendOrNull(Vec vec, int index) throws IOException, BadValueException {
        if (vec.isNull(index)) {
            items().addNull();
        } else {
            vec.append(index, items());
        }
    }

    private void append(Vec vec, int index) throws IOException, BadValueException {
        if (vec.isNull(index)) {
            throw nullItem();
        }
        vec.append(index, items());
    }

    private void list(NestedVectors.Lists lists, int row, int next, ValueSink sink)
            throws IOException, BadValueException {
        int from = lists.from(row);
        int to = (int) lists.end(row);
        boolean number = items != null;
        if (number && next == steps.size()) {
            numbers(lists.items, from, to, sink);
            return;
        }
        int inner = next;
        while (inner < steps.size() && !steps.get(inner).isList()) {
            inner++;
        }
        if (!number) {
            bytesList(lists.items, from, to, next, sink);
        } else if (inner == steps.size()) {
            items().clear();
            for (int i = from; i < to; i++) {
                appendOrNull(inside(lists.items, i, next, inner), i);
            }
            items().give(sink, listName());
        } else {
            listOfLists(lists.items, from, to, next, inner, sink);
        }
    }

    /** Follows the structs from an item of a list, up to one that is null. */
    private Vec inside(Vec item, int index, int from, int to) {
        Vec vec = item;
        for (int i = from; i < to && !vec.isNull(index); i++) {
            vec = ((NestedVectors.Structs) vec).fields.get(steps.get(i).child());
        }
        return vec;
    }

    private void bytesList(Vec item, int from, int to, int next, ValueSink sink) throws IOException, BadValueException {
        List<ByteBuffer> values = new ArrayList<>();
        BitSet nulls = new BitSet();
        long size = 0;
        for (int i = from; i < to; i++) {
            Vec vec = inside(item, i, next, steps.size());
            boolean isNull = vec.isNull(i);
            ByteBuffer value = isNull ? ByteBuffer.allocate(0) : vec.bytes(i);
            size += value.remaining() + ITEM_BYTES;
            if (size > maxBytes) {
                throw new BadValueException(
                        "the list has more than " + maxBytes + " bytes, which is the limit of a value");
            }
            nulls.set(values.size(), isNull && !nullIsEmpty);
            values.add(value);
        }
        NullItems.give(values, nulls, listName(), sink);
    }

    private void listOfLists(Vec item, int from, int to, int next, int inner, ValueSink sink)
            throws IOException, BadValueException {
        items().clear();
        int count = 0;
        for (int i = from; i < to; i++) {
            Vec vec = inside(item, i, next, inner);
            if (vec.isNull(i)) {
                boolean isStruct = vec instanceof NestedVectors.Structs;
                String list = steps.get(isStruct ? next - 1 : inner).name();
                throw new NullInListException(
                        isStruct ? NullInListException.item(list) : NullInListException.inner(list));
            }
            NestedVectors.Lists lists = (NestedVectors.Lists) vec;
            int first = lists.from(i);
            int last = (int) lists.end(i);
            for (int j = first; j < last; j++) {
                append(inside(lists.items, j, inner + 1, steps.size()), j);
            }
            if (count == lengths.length) {
                lengths = Arrays.copyOf(lengths, 2 * count);
            }
            lengths[count++] = last - first;
        }
        sink.setLists(items().bytes(), Arrays.copyOf(lengths, count));
    }

    /** Says that a value in the innermost list is null. */
    private NullItemException nullItem() {
        return new NullItemException(listName());
    }

    /** Returns the name of the innermost list. */
    private String listName() {
        Step list = null;
        for (Step step : steps) {
            list = step.isList() ? step : list;
        }
        return list == null ? column.column().name() : list.name();
    }
}
