package dev.stoker.cli.browse;

import dev.stoker.metadata.selection.SampleFilter;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.condition.RowExpression;
import dev.stoker.schemas.condition.RowPredicate;
import java.io.IOException;
import java.io.UncheckedIOException;
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
 * @param where the condition; empty for none
 */
record Filter(Optional<String> split, String prefix, Optional<OfClass> ofClass, Optional<Where> where) {

    /** A class of a categorical field. */
    record OfClass(int field, String name) {}

    /**
     * A condition on small fields, as of {@code stoker delete --where}.
     *
     * @param text identifies it
     */
    record Where(String text, RowPredicate predicate, List<Field> fields) {
        static Where of(String text, List<Field> fields) {
            RowPredicate predicate = RowExpression.parse(text).bind(SampleFilter.types(fields));
            if (new SampleFilter(predicate, fields).readsPayload()) {
                throw new IllegalArgumentException(
                        "the page reads no payload for a condition; use stoker export --where");
            }
            return new Where(text, predicate, fields);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Where where && text.equals(where.text);
        }

        @Override
        public int hashCode() {
            return text.hashCode();
        }

        private IntPredicate rows(ChunkHead head) {
            SampleFilter filter = new SampleFilter(predicate, fields);
            return row -> {
                try {
                    return filter.matches(head, null, row);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            };
        }
    }

    static Filter of(Parameters parameters, List<Field> fields) {
        Optional<OfClass> ofClass = parameters.text("field").map(field -> {
            int number = categorical(fields, field);
            String name = parameters
                    .text("class")
                    .orElseThrow(() -> new IllegalArgumentException("expected the parameter class"));
            return new OfClass(number, name);
        });
        return new Filter(
                parameters.text("split"),
                parameters.text("prefix").orElse(""),
                ofClass,
                parameters.text("where").map(text -> Where.of(text, fields)));
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
        return prefix.isEmpty() && ofClass.isEmpty() && where.isEmpty();
    }

    /** Returns the test of the rows of a chunk; empty if no row can be selected. */
    Optional<IntPredicate> rows(ChunkHead head) {
        IntPredicate test = prefix.isEmpty() ? row -> true : hasPrefix(head.keys());
        if (where.isPresent()) {
            test = test.and(where.get().rows(head));
        }
        if (ofClass.isEmpty()) {
            return Optional.of(test);
        }
        int field = ofClass.get().field();
        int id = head.classes(field).indexOf(ofClass.get().name());
        ArrowColumn column = head.column(field);
        IntPredicate isOfClass = row -> column.intAt(row) == id && !column.isNull(row);
        return id < 0 ? Optional.empty() : Optional.of(isOfClass.and(test));
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
