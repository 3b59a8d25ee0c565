package dev.stoker.schemas.arrow.types;

import java.util.List;
import java.util.stream.Collectors;

/**
 * Describes rows of one shape: Arrow {@code FixedSizeList} with the extension {@code arrow.fixed_shape_tensor},
 * row-major.
 *
 * @param element the type of the elements, a number
 * @param shape 1 to 32 positive dimensions; a row is shorter than 2^31 bytes
 */
public record TensorType(ScalarType element, List<Integer> shape) implements FieldType {
    private static final int MAX_DIMENSIONS = 32;

    public TensorType {
        shape = List.copyOf(shape);
        if (!element.isNumber()) {
            throw new IllegalArgumentException("tensors of " + element + " do not exist; elements must be numbers");
        }
        if (shape.isEmpty() || shape.size() > MAX_DIMENSIONS) {
            throw new IllegalArgumentException("a tensor has 1 to 32 dimensions, not " + shape.size());
        }
        long bytes = element.width();
        for (int dimension : shape) {
            if (dimension < 1) {
                throw new IllegalArgumentException("dimensions of a tensor are positive, not " + dimension);
            }
            bytes *= dimension;
            if (bytes > Integer.MAX_VALUE) {
                throw new IllegalArgumentException("a row of tensor " + element + shape + " has 2^31 bytes or more");
            }
        }
    }

    /** Elements of a row. */
    public int size() {
        int size = 1;
        for (int dimension : shape) {
            size *= dimension;
        }
        return size;
    }

    @Override
    public String canonical() {
        return element.canonical() + shape.stream().map(String::valueOf).collect(Collectors.joining(",", "[", "]"));
    }

    @Override
    public Layout layout() {
        return Layout.TENSOR;
    }

    @Override
    public int width() {
        return size() * element.width();
    }

    @Override
    public ScalarType numbers() {
        return element;
    }

    @Override
    public String toString() {
        return canonical();
    }
}
