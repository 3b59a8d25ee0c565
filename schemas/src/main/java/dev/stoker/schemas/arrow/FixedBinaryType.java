package dev.stoker.schemas.arrow;

/**
 * Arrow {@code FixedSizeBinary}: for tables of our own, such as the ids in the chunk table. Not a type that a
 * dataset's field can have, hence not known to {@link FieldType#parse}.
 *
 * @param width bytes per row
 */
public record FixedBinaryType(int width) implements FieldType {
    public FixedBinaryType {
        if (width < 1) {
            throw new IllegalArgumentException("width " + width + " is not positive");
        }
    }

    @Override
    public String canonical() {
        return "fixed_size_binary(" + width + ")";
    }

    @Override
    public Layout layout() {
        return Layout.FIXED;
    }

    @Override
    public String toString() {
        return canonical();
    }
}
