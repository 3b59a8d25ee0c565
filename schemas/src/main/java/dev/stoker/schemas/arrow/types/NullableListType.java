package dev.stoker.schemas.arrow.types;

/**
 * Describes rows with any number of items that may be null: Arrow {@code List} with a nullable child {@code item}.
 *
 * <p>The layout is that of a list of the same items, with a bitmap for the items of all rows. A null item is a number
 * of zero bytes, or has no bytes. Fields of this type are small, because a row's bits are not a run of bytes.
 *
 * @param item a number, utf8 or binary
 */
public record NullableListType(ScalarType item) implements FieldType {
    public NullableListType {
        if (!item.isNumber() && item != ScalarType.UTF8 && item != ScalarType.BINARY) {
            throw new IllegalArgumentException(
                    "lists of " + item + " with null items do not exist; items are numbers, utf8 or binary");
        }
    }

    /** Returns the type of lists of the same items without nulls. */
    public FieldType withoutNulls() {
        return item.isNumber() ? new ListType(item) : new NestedListType(item);
    }

    @Override
    public String canonical() {
        return item.canonical() + "?[]";
    }

    @Override
    public Layout layout() {
        return item.isNumber() ? Layout.LIST : Layout.NESTED;
    }

    /** Returns the bytes of a number, or 1 for text and byte strings. */
    @Override
    public int width() {
        return item.width();
    }

    @Override
    public boolean mayBePayload() {
        return false;
    }

    @Override
    public String toString() {
        return canonical();
    }
}
