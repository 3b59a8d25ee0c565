package dev.stoker.metadata.selection;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.condition.Literal;
import dev.stoker.schemas.condition.RowExpression;
import dev.stoker.schemas.condition.RowPredicate;
import dev.stoker.schemas.condition.RowPredicate.Operator;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** A condition that is evaluated on the heads of chunks. Immutable and thread-safe. */
final class HeadCondition {
    private static final String KEY = "key";
    private static final int FALSE = 0;
    private static final int UNKNOWN = 1;
    private static final int TRUE = 2;

    private final RowPredicate predicate;
    private final List<Field> fields;
    private final Map<String, Integer> numbers = new HashMap<>();

    /** The truth of a condition for the rows of one chunk: false, unknown or true, in this order. */
    private interface Truth {
        int of(int row);
    }

    /** How a value that is not null compares with a literal. */
    private interface Comparison {
        boolean accepts(int row);
    }

    /**
     * @param fields of the version
     * @throws IllegalArgumentException with a clause, if a column does not exist or is payload, or a value does not fit
     *     its type
     */
    HeadCondition(RowExpression expression, List<Field> fields) {
        this.fields = List.copyOf(fields);
        Map<String, FieldType> types = new LinkedHashMap<>();
        types.put(KEY, ScalarType.UTF8);
        for (int f = 0; f < fields.size(); f++) {
            numbers.put(fields.get(f).name(), f);
            types.put(fields.get(f).name(), fields.get(f).type());
        }
        this.predicate = expression.bind(types);
        requireSmall(predicate);
    }

    private void requireSmall(RowPredicate part) {
        if (part instanceof RowPredicate.Comparison comparison) {
            Integer number = numbers.get(comparison.column());
            if (number != null && fields.get(number).payload()) {
                throw new IllegalArgumentException("the column " + comparison.column() + " of type "
                        + fields.get(number).type().canonical()
                        + " is payload, which the condition of a feed cannot compare; only IS NULL and IS NOT NULL"
                        + " work. Compare small fields.");
            }
        } else if (part instanceof RowPredicate.Not not) {
            requireSmall(not.predicate());
        } else if (part instanceof RowPredicate.And and) {
            and.all().forEach(this::requireSmall);
        } else if (part instanceof RowPredicate.Or or) {
            or.any().forEach(this::requireSmall);
        }
    }

    /**
     * Returns a bitmap of the rows for which the condition is true: the bit row mod 8 of the byte row / 8.
     *
     * @param version the head of a chunk with the fields and values of the version
     */
    byte[] selects(ChunkHead version) {
        ChunkHead head = version.select(fields);
        Truth truth = truth(predicate, head);
        byte[] bitmap = new byte[(head.rows() + 7) / 8];
        for (int row = 0; row < head.rows(); row++) {
            if (truth.of(row) == TRUE) {
                bitmap[row >> 3] |= (byte) (1 << (row & 7));
            }
        }
        return bitmap;
    }

    private Truth truth(RowPredicate part, ChunkHead head) {
        if (part instanceof RowPredicate.Comparison comparison) {
            ArrowColumn column = column(comparison.column(), head);
            Comparison accepts = comparison(comparison, column, head);
            return row -> column.isNull(row) ? UNKNOWN : accepts.accepts(row) ? TRUE : FALSE;
        }
        if (part instanceof RowPredicate.IsNull isNull) {
            ArrowColumn column = column(isNull.column(), head);
            return row -> column.isNull(row) ? TRUE : FALSE;
        }
        if (part instanceof RowPredicate.Not not) {
            Truth inner = truth(not.predicate(), head);
            return row -> TRUE - inner.of(row);
        }
        if (part instanceof RowPredicate.And and) {
            Truth[] all = and.all().stream().map(each -> truth(each, head)).toArray(Truth[]::new);
            return row -> {
                int least = TRUE;
                for (int i = 0; i < all.length && least != FALSE; i++) {
                    least = Math.min(least, all[i].of(row));
                }
                return least;
            };
        }
        Truth[] any = ((RowPredicate.Or) part)
                .any().stream().map(each -> truth(each, head)).toArray(Truth[]::new);
        return row -> {
            int greatest = FALSE;
            for (int i = 0; i < any.length && greatest != TRUE; i++) {
                greatest = Math.max(greatest, any[i].of(row));
            }
            return greatest;
        };
    }

    private ArrowColumn column(String name, ChunkHead head) {
        return name.equals(KEY) ? head.keys() : head.column(number(name));
    }

    private int number(String name) {
        return Objects.requireNonNull(numbers.get(name), "the condition was bound to the fields");
    }

    private Comparison comparison(RowPredicate.Comparison comparison, ArrowColumn column, ChunkHead head) {
        Operator operator = comparison.operator();
        Literal literal = comparison.literal();
        FieldType type = comparison.column().equals(KEY)
                ? ScalarType.UTF8
                : fields.get(number(comparison.column())).type();
        if (type instanceof DecimalType) {
            return row -> operator.accepts(literal.compare(column.decimalAt(row)));
        }
        if (!(type instanceof ScalarType scalar)) {
            return row -> operator.accepts(literal.compare(column.longAt(row)));
        }
        return switch (scalar) {
            case UTF8, BINARY -> row -> operator.accepts(literal.compare(column.bytesAt(row)));
            case CATEGORICAL -> {
                boolean[] accepted = classes(operator, literal, head.classes(number(comparison.column())));
                yield row -> accepted[column.intAt(row)];
            }
            case FLOAT16, BFLOAT16, FLOAT32, FLOAT64 ->
                row -> {
                    double value = column.doubleAt(row);
                    return Double.isNaN(value)
                            ? operator == Operator.NOT_EQUAL
                            : operator.accepts(literal.compare(value));
                };
            default -> row -> operator.accepts(literal.compare(column.longAt(row)));
        };
    }

    private static boolean[] classes(Operator operator, Literal literal, List<String> names) {
        boolean[] accepted = new boolean[names.size()];
        for (int i = 0; i < accepted.length; i++) {
            ByteBuffer name = ByteBuffer.wrap(names.get(i).getBytes(StandardCharsets.UTF_8));
            accepted[i] = operator.accepts(literal.compare(name));
        }
        return accepted;
    }
}
