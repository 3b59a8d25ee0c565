package dev.stoker.schemas.arrow.types;

import org.jspecify.annotations.Nullable;

/**
 * Describes rows with any number of items of one type: Arrow {@code List} with a child {@code item}, nullable if the
 * items may be null.
 *
 * <p>Numbers have one width, and a row is a run of bytes. Other items differ in length, and a row is a run of item
 * offsets and a run of bytes in the values buffer. If items may be null, there is also a bitmap for the items of all
 * rows. A null item is a number of zero bytes, or has no bytes.
 *
 * @param item a number, utf8, binary or, if items cannot be null, a list of numbers
 * @param nullItems whether items may be null
 */
public record ListType(FieldType item, boolean nullItems) implements FieldType {
    public ListType {
        boolean isSingle = item == ScalarType.UTF8 || item == ScalarType.BINARY || isNumber(item);
        if (nullItems && !isSingle) {
            throw new IllegalArgumentException(
                    "lists of " + item + " with null items do not exist; items are numbers, utf8 or binary");
        }
        if (!isSingle && !(item instanceof ListType list && list.numbers() != null)) {
            throw new IllegalArgumentException("lists of " + item
                    + " do not exist; items are numbers, utf8, binary, or lists of numbers such as int32[]");
        }
    }

    /** Describes a list whose items cannot be null. */
    public ListType(FieldType item) {
        this(item, false);
    }

    private static boolean isNumber(FieldType item) {
        return item instanceof ScalarType scalar && scalar.isNumber();
    }

    /** Returns whether the items are lists. */
    public boolean isOfLists() {
        return item instanceof ListType;
    }

    /** Returns the type of the items, or of their items if they are lists. */
    public ScalarType element() {
        return item instanceof ListType list ? list.element() : (ScalarType) item;
    }

    /** Returns the type of lists of the same items without nulls. */
    public ListType withoutNulls() {
        return new ListType(item);
    }

    @Override
    public String canonical() {
        return item.canonical() + (nullItems ? "?[]" : "[]");
    }

    @Override
    public Layout layout() {
        return isNumber(item) ? Layout.LIST : Layout.NESTED;
    }

    @Override
    public int width() {
        return item.width();
    }

    @Override
    public boolean hasNullItems() {
        return nullItems;
    }

    @Override
    public @Nullable ScalarType numbers() {
        return !nullItems && item instanceof ScalarType scalar && scalar.isNumber() ? scalar : null;
    }

    @Override
    public @Nullable FieldType items() {
        return numbers() == null ? item : null;
    }

    @Override
    public String toString() {
        return canonical();
    }
}
