package dev.stoker.cli.browse;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.Field;
import dev.stoker.schemas.arrow.ScalarType;
import dev.stoker.schemas.chunk.ChunkHead;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.function.IntPredicate;

/**
 * Selects samples.
 *
 * @param split the split; empty for all
 * @param prefix begins the keys; may have no characters
 * @param ofClass the class; empty for all
 */
record Filter(Optional<String> split, String prefix, Optional<OfClass> ofClass) {

    /** A class of a categorical field. */
    record OfClass(int field, String name) {}

    static Filter of(Parameters parameters, List<Field> fields) {
        Optional<OfClass> ofClass = parameters.text("field").map(field -> {
            int number = categorical(fields, field);
            String name = parameters
                    .text("class")
                    .orElseThrow(() -> new IllegalArgumentException("expected the parameter class"));
            return new OfClass(number, name);
        });
        return new Filter(parameters.text("split"), parameters.text("prefix").orElse(""), ofClass);
    }

    private static int categorical(List<Field> fields, String name) {
        for (int f = 0; f < fields.size(); f++) {
            if (fields.get(f).name().equals(name) && fields.get(f).type() == ScalarType.CATEGORICAL) {
                return f;
            }
        }
        throw new IllegalArgumentException("the dataset has no such field with classes");
    }

    /** Returns whether all samples of the split are selected. */
    boolean selectsAll() {
        return prefix.isEmpty() && ofClass.isEmpty();
    }

    /** Returns the test of the rows of a chunk; empty if no row can be selected. */
    Optional<IntPredicate> rows(ChunkHead head) {
        IntPredicate test = prefix.isEmpty() ? row -> true : hasPrefix(head.keys());
        if (ofClass.isEmpty()) {
            return Optional.of(test);
        }
        int field = ofClass.get().field();
        int id = head.classes(field).indexOf(ofClass.get().name());
        ArrowColumn column = head.column(field);
        return id < 0 ? Optional.empty() : Optional.of(test.and(row -> column.intAt(row) == id && !column.isNull(row)));
    }

    private IntPredicate hasPrefix(ArrowColumn keys) {
        byte[] begin = prefix.getBytes(StandardCharsets.UTF_8);
        ByteBuffer bytes = keys.bytes();
        return row -> {
            if (keys.valueLength(row) < begin.length) {
                return false;
            }
            int at = keys.valuePosition(row);
            for (int i = 0; i < begin.length; i++) {
                if (bytes.get(at + i) != begin[i]) {
                    return false;
                }
            }
            return true;
        };
    }
}
