package dev.stoker.schemas.arrow;

import dev.stoker.schemas.arrow.types.ArrowField;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.errors.StokerException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Reads the record batch message of a delivered piece, as specified in {@code docs/formats/batch.md}. */
public final class BatchColumns {
    private BatchColumns() {}

    /**
     * Reads and checks the columns of a message: the key, then the fields.
     *
     * @param message from index 0 to the limit; must not change
     * @param fields fields of the dataset, in dataset order
     * @param what the message's name for errors
     */
    public static List<ArrowColumn> read(ByteBuffer message, List<Field> fields, String what) throws StokerException {
        return read(message, fields, IntStream.rangeClosed(0, fields.size()).toArray(), what);
    }

    /**
     * Reads and checks the columns of a message that has only some columns of the dataset.
     *
     * @param message from index 0 to the limit; must not change
     * @param fields fields of the dataset, in dataset order
     * @param numbers the columns of the message, ascending: 0 for the key, f + 1 for field f
     * @param what the message's name for errors
     */
    public static List<ArrowColumn> read(ByteBuffer message, List<Field> fields, int[] numbers, String what)
            throws StokerException {
        List<ArrowField> columns = new ArrayList<>();
        boolean[] payload = new boolean[numbers.length];
        for (int number : numbers) {
            payload[columns.size()] = number > 0 && fields.get(number - 1).payload();
            columns.add(
                    number == 0 ? ArrowField.of(Field.KEY, ScalarType.UTF8) : ArrowField.of(fields.get(number - 1)));
        }
        RecordBatchLayout layout =
                RecordBatchLayout.of(columns.stream().map(ArrowField::type).toList(), payload);
        ByteBuffer bytes = message.duplicate().position(0).order(ByteOrder.LITTLE_ENDIAN);
        RecordBatch batch =
                RecordBatch.read(bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN), layout, message.limit(), what);
        List<ArrowColumn> read = new ArrayList<>();
        for (int c = 0; c < columns.size(); c++) {
            read.add(ArrowColumn.open(columns.get(c), c, layout, batch, bytes, batch.headLength(), what));
        }
        return List.copyOf(read);
    }
}
