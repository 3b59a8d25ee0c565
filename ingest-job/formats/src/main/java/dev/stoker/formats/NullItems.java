package dev.stoker.formats;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Gives lists of which some items are null. Stateless. */
public final class NullItems {
    private NullItems() {}

    /**
     * Gives a list of text or of bytes.
     *
     * @param items the items, with any bytes for the null ones
     * @param nulls the items that are null
     * @param list dotted name of the list, for messages
     * @throws NullItemException if an item is null, and the sink does not take it
     */
    public static void give(List<ByteBuffer> items, BitSet nulls, String list, ValueSink sink)
            throws BadValueException {
        if (nulls.isEmpty()) {
            sink.setBytesList(items);
            return;
        }
        if (!sink.takesNullItems()) {
            throw new NullItemException(list);
        }
        List<@Nullable ByteBuffer> some = new ArrayList<>(items);
        nulls.stream().forEach(item -> some.set(item, null));
        sink.setItems(some);
    }

    /**
     * Gives a list of numbers.
     *
     * @param numbers the numbers, with zeros for the null ones
     * @param width bytes of a number
     * @param nulls the items that are null
     * @param list dotted name of the list, for messages
     * @throws NullItemException if an item is null, and the sink does not take it
     */
    public static void give(ByteBuffer numbers, int width, BitSet nulls, String list, ValueSink sink)
            throws BadValueException {
        if (nulls.isEmpty()) {
            sink.setBytes(numbers);
            return;
        }
        if (!sink.takesNullItems()) {
            throw new NullItemException(list);
        }
        List<@Nullable ByteBuffer> items = new ArrayList<>();
        for (int at = numbers.position(); at < numbers.limit(); at += width) {
            items.add(nulls.get(items.size()) ? null : numbers.slice(at, width));
        }
        sink.setItems(items);
    }
}
