package dev.stoker.schemas.arrow;

import java.nio.ByteBuffer;

/** Collects the validity of the items of lists that may be null. Not thread-safe. */
final class ItemValidity {
    private final ByteList bits = new ByteList();
    private int items;
    private int nulls;

    /** Appends an item. */
    void add(boolean isValid) {
        Bits.append(bits, items, isValid);
        items++;
        nulls += isValid ? 0 : 1;
    }

    /** Appends items with a value until there are this many items. */
    void fill(int toItems) {
        Bits.appendOnes(bits, items, toItems - items);
        items = toItems;
    }

    /** Removes the items from this one on. */
    void truncate(int toItems) {
        if (toItems >= items) {
            return;
        }
        for (int item = toItems; item < items && nulls > 0; item++) {
            nulls -= Bits.isSet(bits, item) ? 0 : 1;
        }
        Bits.truncate(bits, toItems);
        items = toItems;
    }

    int nulls() {
        return nulls;
    }

    /** Returns the buffer, which is empty if no item is null. It is shared with this object. */
    ByteBuffer buffer() {
        return nulls == 0 ? ByteBuffer.allocate(0) : bits.buffer();
    }

    /** Returns the length of a bitmap of this many items. */
    static int bytes(int count) {
        return (count + 7) / 8;
    }
}
