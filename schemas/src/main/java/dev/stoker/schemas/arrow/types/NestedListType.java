package dev.stoker.schemas.arrow.types;

/**
 * Describes rows with any number of items whose lengths differ: texts, byte strings or lists of numbers. Arrow
 * {@code List} with a non-nullable child {@code item} of type Utf8, Binary or List.
 *
 * <p>The items of a row, and the bytes of its items, are one run each. So a row is a run of item offsets and a run of
 * bytes in the values buffer.
 *
 * @param item utf8, binary or a list of numbers
 */
public record NestedListType(FieldType item) implements FieldType {
    public NestedListType {
        if (item != ScalarType.UTF8 && item != ScalarType.BINARY && !(item instanceof ListType)) {
            throw new IllegalArgumentException("lists of " + item
                    + " do not exist; items are numbers, utf8, binary, or lists of numbers such as int32[]");
        }
    }

    @Override
    public String canonical() {
        return item.canonical() + "[]";
    }

    @Override
    public Layout layout() {
        return Layout.NESTED;
    }

    /** Returns the bytes per unit of the item offsets: 1, or the width of a number. */
    @Override
    public int width() {
        return item.width();
    }

    @Override
    public String toString() {
        return canonical();
    }
}
