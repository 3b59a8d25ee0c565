package dev.stoker.metadata.selection;

import dev.stoker.metadata.removal.SampleCondition;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.condition.Literal;
import dev.stoker.schemas.condition.RowPredicate;
import dev.stoker.schemas.condition.RowPredicate.Operator;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.io.BufferRangeReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Decides whether a condition is true for a sample of a chunk. For one thread. */
public final class SampleFilter implements SampleCondition {
    private static final int FALSE = 0;
    private static final int UNKNOWN = 1;
    private static final int TRUE = 2;

    private final RowPredicate predicate;
    private final List<Field> fields;
    private final List<String> payload = new ArrayList<>();
    private @Nullable ChunkHead given;
    private @Nullable Truth truth;
    private @Nullable ByteBuffer bytes;

    /** The truth of a condition for a row of one chunk: false, unknown or true, in this order. */
    private interface Truth {
        int of(int row) throws IOException;
    }

    /** Whether a value that is not null satisfies a comparison. */
    private interface Comparison {
        boolean accepts(int row) throws IOException;
    }

    /** @param predicate a condition on {@link #types} of these fields */
    public SampleFilter(RowPredicate predicate, List<Field> fields) {
        this.predicate = predicate;
        this.fields = List.copyOf(fields);
        collectPayload(predicate);
    }

    /** Returns the types of the columns that a condition on samples can use, by name: the key and the fields. */
    public static Map<String, FieldType> types(List<Field> fields) {
        Map<String, FieldType> types = new LinkedHashMap<>();
        types.put(Field.KEY, ScalarType.UTF8);
        fields.forEach(field -> types.put(field.name(), field.type()));
        return types;
    }

    private void collectPayload(RowPredicate part) {
        if (part instanceof RowPredicate.Comparison comparison) {
            boolean isPayload = !comparison.column().equals(Field.KEY)
                    && fields.get(number(comparison.column())).payload();
            if (isPayload) {
                payload.add(comparison.column());
            }
        } else if (part instanceof RowPredicate.Not not) {
            collectPayload(not.predicate());
        } else if (part instanceof RowPredicate.And and) {
            and.all().forEach(this::collectPayload);
        } else if (part instanceof RowPredicate.Or or) {
            or.any().forEach(this::collectPayload);
        }
    }

    /** Returns a payload field that the condition compares. */
    Optional<String> comparedPayload() {
        return payload.stream().findFirst();
    }

    @Override
    public boolean readsPayload() {
        return !payload.isEmpty();
    }

    @Override
    public boolean matches(ChunkHead head, @Nullable ByteBuffer file, int row) throws IOException {
        bytes = file;
        return truth(head).of(row) == TRUE;
    }

    /** Returns a bitmap of the rows for which the condition is true: the bit row mod 8 of the byte row / 8. */
    byte[] selects(ChunkHead head) throws IOException {
        Truth ofHead = truth(head);
        byte[] bitmap = new byte[(head.rows() + 7) / 8];
        for (int row = 0; row < head.rows(); row++) {
            if (ofHead.of(row) == TRUE) {
                bitmap[row >> 3] |= (byte) (1 << (row & 7));
            }
        }
        return bitmap;
    }

    @SuppressWarnings("ReferenceEquality") // The rows of a chunk come one after the other.
    private Truth truth(ChunkHead head) {
        Truth known = truth;
        if (head != given || known == null) {
            given = head;
            // The chunk may lack fields that were added, or have later ones.
            known = truth(predicate, head.select(fields));
            truth = known;
        }
        return known;
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
            Truth[] all = truths(and.all(), head);
            return row -> {
                int least = TRUE;
                for (int i = 0; i < all.length && least != FALSE; i++) {
                    least = Math.min(least, all[i].of(row));
                }
                return least;
            };
        }
        Truth[] any = truths(((RowPredicate.Or) part).any(), head);
        return row -> {
            int greatest = FALSE;
            for (int i = 0; i < any.length && greatest != TRUE; i++) {
                greatest = Math.max(greatest, any[i].of(row));
            }
            return greatest;
        };
    }

    private Truth[] truths(List<RowPredicate> parts, ChunkHead head) {
        return parts.stream().map(part -> truth(part, head)).toArray(Truth[]::new);
    }

    private ArrowColumn column(String name, ChunkHead head) {
        return name.equals(Field.KEY) ? head.keys() : head.column(number(name));
    }

    private int number(String name) {
        for (int f = 0; f < fields.size(); f++) {
            if (fields.get(f).name().equals(name)) {
                return f;
            }
        }
        throw new IllegalArgumentException("the condition was bound to other fields: there is no " + name);
    }

    private Comparison comparison(RowPredicate.Comparison comparison, ArrowColumn column, ChunkHead head) {
        Operator operator = comparison.operator();
        Literal literal = comparison.literal();
        if (comparison.column().equals(Field.KEY)) {
            return row -> operator.accepts(literal.compare(column.bytesAt(row)));
        }
        int number = number(comparison.column());
        FieldType type = fields.get(number).type();
        if (type instanceof DecimalType) {
            return row -> operator.accepts(literal.compare(column.decimalAt(row)));
        }
        if (!(type instanceof ScalarType scalar)) {
            return row -> operator.accepts(literal.compare(column.longAt(row)));
        }
        return switch (scalar) {
            case UTF8, BINARY ->
                fields.get(number).payload()
                        ? row -> operator.accepts(literal.compare(payload(head, number, row)))
                        : row -> operator.accepts(literal.compare(column.bytesAt(row)));
            case CATEGORICAL -> {
                boolean[] accepted = classes(operator, literal, head.classes(number));
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

    /** Returns verified bytes, because a damaged value must not decide that a sample is left out. */
    private ByteBuffer payload(ChunkHead head, int field, int row) throws IOException {
        ByteBuffer file = Objects.requireNonNull(bytes, "the whole chunk was read");
        ByteBuffer value = file.slice(head.payloadPosition(field, row), head.payloadLength(field, row));
        if (Crc32cs.of(value.duplicate()) != head.payloadCrc32c(field, row)) {
            ChunkReader.verifySample(head, new BufferRangeReader(head.file(), file), row);
        }
        return value;
    }
}
