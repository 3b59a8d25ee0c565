package dev.stoker.cli.samples;

import dev.stoker.metadata.index.SampleStat;
import dev.stoker.metadata.index.StoredSample;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.Field;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.IntFunction;

/**
 * A sample that was read.
 *
 * @param stat its place
 * @param fields the dataset's fields
 * @param columns the column of a field; of a payload field, only its validity is used
 * @param classes the class names of a categorical field, by the numbers in its column
 * @param payload the bytes of a payload field
 * @param row its row in the columns
 */
public record ReadSample(
        SampleStat stat,
        List<Field> fields,
        IntFunction<ArrowColumn> columns,
        IntFunction<List<String>> classes,
        IntFunction<ByteBuffer> payload,
        int row) {

    public static ReadSample of(StoredSample sample) {
        return new ReadSample(
                sample.stat(),
                sample.fields(),
                sample.head()::column,
                sample.head()::classes,
                sample::payload,
                sample.row());
    }

    public String key() {
        return stat.key();
    }

    public boolean isNull(int field) {
        return columns.apply(field).isNull(row);
    }

    /** Returns the bytes of a field of bytes or text. */
    public ByteBuffer content(int field) {
        return fields.get(field).payload()
                ? payload.apply(field)
                : columns.apply(field).bytesAt(row);
    }
}
