package dev.stoker.schemas.arrow.types;

/**
 * Describes rows with any number of equally typed numbers: Arrow {@code List} with a non-nullable child {@code item}.
 *
 * @param element the type of a list's elements, a number
 */
public record ListType(ScalarType element) implements FieldType {
    public ListType {
        if (!element.isNumber()) {
            throw new IllegalArgumentException("lists of " + element
                    + " do not exist; items are numbers, utf8, binary, or lists of numbers such as int32[]");
        }
    }

    @Override
    public String canonical() {
        return element.canonical() + "[]";
    }

    @Override
    public Layout layout() {
        return Layout.LIST;
    }

    @Override
    public int width() {
        return element.width();
    }

    @Override
    public String toString() {
        return canonical();
    }
}
