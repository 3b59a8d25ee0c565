package dev.stoker.export.read;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.filter.RowFilter;
import dev.stoker.metadata.removal.SampleCondition;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TimeType;
import dev.stoker.schemas.arrow.types.TimestampType;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.condition.RowPredicate;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.io.BufferRangeReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Decides whether a condition is true for a sample of a chunk. For one thread. */
public final class SampleFilter implements SampleCondition {
    private final RowFilter filter;
    /** Numbers of the columns that the condition uses: 0 for the key, f + 1 for field f. */
    private final int[] numbers;

    private final boolean readsPayload;
    private final List<Field> fields;
    private @Nullable ChunkHead given;
    private @Nullable ChunkHead chunk;
    private @Nullable ByteBuffer bytes;
    private int row;

    /** @param condition a condition on {@link ExportSelection#columns} of these fields */
    public SampleFilter(RowPredicate condition, List<Field> fields) {
        this.fields = List.copyOf(fields);
        Set<String> used = RowFilter.columns(condition);
        List<RowColumn> columns = List.copyOf(ExportSelection.columns(fields).values());
        List<RowColumn> selected =
                columns.stream().filter(column -> used.contains(column.name())).toList();
        this.filter = new RowFilter(condition, selected);
        this.numbers = selected.stream().mapToInt(columns::indexOf).toArray();
        this.readsPayload = selected.stream()
                .anyMatch(column -> column.role() == RowColumn.Role.PAYLOAD && isComparable(column.type()));
    }

    private static boolean isComparable(FieldType payload) {
        return payload == ScalarType.UTF8 || payload == ScalarType.BINARY;
    }

    @Override
    public boolean readsPayload() {
        return readsPayload;
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // The rows of a chunk come one after the other.
    public boolean matches(ChunkHead head, @Nullable ByteBuffer file, int at) throws IOException {
        if (head != given) {
            given = head;
            // The chunk may lack fields that were added, or have later ones.
            chunk = head.select(fields);
        }
        bytes = file;
        row = at;
        try {
            return filter.matches(this::give);
        } catch (BadValueException e) {
            throw new IllegalStateException("a condition takes all values that a dataset can hold", e);
        }
    }

    private void give(int column, ValueSink sink) throws IOException, BadValueException {
        ChunkHead head = Objects.requireNonNull(chunk, "called for a sample");
        if (numbers[column] == 0) {
            sink.setBytes(head.keys().bytesAt(row));
            return;
        }
        int field = numbers[column] - 1;
        ArrowColumn values = head.column(field);
        FieldType type = head.fields().get(field).type();
        if (values.isNull(row)) {
            sink.setNull();
        } else if (type instanceof ScalarType scalar) {
            scalar(scalar, head, field, sink);
        } else if (type instanceof DecimalType) {
            sink.setDecimal(values.decimalAt(row));
        } else if (type instanceof TimestampType || type instanceof TimeType) {
            sink.setLong(values.longAt(row));
        } else {
            // Lists and tensors can only be compared with null.
            sink.setBytes(ByteBuffer.allocate(0));
        }
    }

    private void scalar(ScalarType type, ChunkHead head, int field, ValueSink sink)
            throws IOException, BadValueException {
        ArrowColumn values = head.column(field);
        switch (type) {
            case UTF8, BINARY ->
                sink.setBytes(head.fields().get(field).payload() ? payload(head, field) : values.bytesAt(row));
            case CATEGORICAL ->
                sink.setBytes(ByteBuffer.wrap(
                        head.classes(field).get(values.intAt(row)).getBytes(StandardCharsets.UTF_8)));
            case FLOAT16, BFLOAT16, FLOAT32, FLOAT64 -> sink.setDouble(values.doubleAt(row));
            default -> sink.setLong(values.longAt(row));
        }
    }

    /** Returns verified bytes, because a damaged value must not decide that a sample is left out. */
    private ByteBuffer payload(ChunkHead head, int field) throws IOException {
        ByteBuffer file = Objects.requireNonNull(bytes, "the whole chunk was read");
        ByteBuffer value = file.slice(head.payloadPosition(field, row), head.payloadLength(field, row));
        if (Crc32cs.of(value.duplicate()) != head.payloadCrc32c(field, row)) {
            ChunkReader.verifySample(head, new BufferRangeReader(head.file(), file), row);
        }
        return value;
    }
}
