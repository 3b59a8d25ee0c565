package dev.stoker.schemas.arrow.types;

/**
 * Describes Arrow's {@code FixedSizeBinary}, for Stoker's own tables, such as the ids in the chunk table. A dataset's
 * field cannot have this type, so {@link FieldType#parse} does not accept it.
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
