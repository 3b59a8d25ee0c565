package dev.stoker.cli.browse;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TimeText;
import dev.stoker.schemas.chunk.ChunkHead;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The order of samples by the values of a field, or by their size. Samples without a value are last. Samples with equal
 * values keep the stored order.
 *
 * @param field the field; empty for the bytes of payload
 */
record SortOrder(Optional<String> field, Direction direction) {

    /** Most samples of a split, because the heads of all its chunks are read before the first sample is shown. */
    static final int MOST = 200_000;

    private static final String BY_SIZE = "size";
    private static final String BY_FIELD = "field:";

    /** Which values come first. */
    enum Direction {
        ASCENDING,
        DESCENDING
    }

    /**
     * Sorted samples.
     *
     * @param places the selected samples
     * @param searched number of samples that were looked at
     * @param problems messages of chunks that could not be read
     */
    record Sorted(List<RowAddress> places, long searched, List<String> problems) {}

    /** Returns the order of a request; empty if it does not ask for one. */
    static Optional<SortOrder> of(Parameters parameters, List<Field> fields) {
        Optional<String> text = parameters.text("order").filter(order -> !order.equals("key"));
        if (text.isEmpty() || text.get().equals("stored")) {
            return Optional.empty();
        }
        Direction direction = parameters.isSet("descending") ? Direction.DESCENDING : Direction.ASCENDING;
        if (text.get().equals(BY_SIZE)) {
            return Optional.of(new SortOrder(Optional.empty(), direction));
        }
        if (!text.get().startsWith(BY_FIELD)) {
            throw new IllegalArgumentException("no such order; use stored, key, size or field:NAME");
        }
        String name = text.get().substring(BY_FIELD.length());
        if (fields.stream().noneMatch(field -> field.name().equals(name) && canSort(field))) {
            throw new IllegalArgumentException("the dataset has no such small field with one value a sample");
        }
        return Optional.of(new SortOrder(Optional.of(name), direction));
    }

    /** Returns whether samples can be sorted by a field. */
    static boolean canSort(Field field) {
        FieldType type = field.type();
        boolean isText = type == ScalarType.UTF8 || type == ScalarType.CATEGORICAL;
        boolean isNumber = type instanceof ScalarType scalar && (scalar.isNumber() || scalar == ScalarType.BOOL);
        return !field.payload() && (isText || isNumber || TimeText.isTime(type) || type instanceof DecimalType);
    }

    Sorter sorter(List<Field> fields) {
        int number = -1;
        for (int f = 0; f < fields.size(); f++) {
            if (field.isPresent() && fields.get(f).name().equals(field.get())) {
                number = f;
            }
        }
        return new Sorter(number, direction);
    }

    /** Collects and sorts samples. For one thread. */
    static final class Sorter {
        /** The field, or -1 for the size. */
        private final int field;

        private final Direction direction;
        private final List<Entry> entries = new ArrayList<>();

        private Sorter(int field, Direction direction) {
            this.field = field;
            this.direction = direction;
        }

        private record Entry(RowAddress place, @Nullable Comparable<Object> value) {}

        void add(ChunkHead head, int chunk, int[] rows, IntPredicate test) {
            for (int row : rows) {
                if (test.test(row)) {
                    entries.add(new Entry(new RowAddress(chunk, row), field < 0 ? size(head, row) : value(head, row)));
                }
            }
        }

        @SuppressWarnings("unchecked")
        private static Comparable<Object> comparable(Comparable<?> value) {
            return (Comparable<Object>) value;
        }

        private static Comparable<Object> size(ChunkHead head, int row) {
            long bytes = 0;
            for (int f = 0; f < head.fields().size(); f++) {
                if (head.fields().get(f).payload() && !head.column(f).isNull(row)) {
                    bytes += head.payloadLength(f, row);
                }
            }
            return comparable(bytes);
        }

        private @Nullable Comparable<Object> value(ChunkHead head, int row) {
            ArrowColumn column = head.column(field);
            if (column.isNull(row)) {
                return null;
            }
            FieldType type = column.field().type();
            if (type == ScalarType.CATEGORICAL) {
                return comparable(head.classes(field).get(column.intAt(row)));
            }
            if (type == ScalarType.UTF8) {
                return comparable(column.stringAt(row));
            }
            if (type == ScalarType.BOOL) {
                return comparable(column.booleanAt(row));
            }
            if (type instanceof DecimalType) {
                return comparable(column.decimalAt(row));
            }
            return switch (type instanceof ScalarType scalar ? scalar : ScalarType.INT64) {
                case FLOAT16, BFLOAT16, FLOAT32, FLOAT64 -> comparable(column.doubleAt(row));
                // Unsigned numbers of 64 bits are compared as such.
                case UINT64 -> comparable(column.longAt(row) ^ Long.MIN_VALUE);
                default -> comparable(column.longAt(row));
            };
        }

        List<RowAddress> sorted() {
            Comparator<Comparable<Object>> values = Comparator.naturalOrder();
            entries.sort(Comparator.comparing(
                    Entry::value, Comparator.nullsLast(direction == Direction.ASCENDING ? values : values.reversed())));
            return entries.stream().map(Entry::place).toList();
        }
    }
}
