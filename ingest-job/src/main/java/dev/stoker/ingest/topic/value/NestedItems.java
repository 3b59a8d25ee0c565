package dev.stoker.ingest.topic.value;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** Collects the items of a nested list, such as {@code utf8[]} or {@code int32[][]}. For one thread; reusable. */
final class NestedItems {

    private final List<ByteBuffer> items = new ArrayList<>();

    void begin() {
        items.clear();
    }

    /** Adds a copy of the bytes. */
    void add(ByteBuffer bytes) {
        ByteBuffer copy = ByteBuffer.allocate(bytes.remaining()).order(ByteOrder.LITTLE_ENDIAN);
        items.add(copy.put(bytes.duplicate()).flip());
    }

    /** The items, valid until the next {@link #begin}. */
    List<ByteBuffer> take() {
        return items;
    }
}
