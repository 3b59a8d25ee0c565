package dev.stoker.schemas.arrow;

import dev.stoker.schemas.errors.StokerException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

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
        List<ArrowField> columns = new ArrayList<>();
        columns.add(ArrowField.of(Field.KEY, ScalarType.UTF8));
        fields.forEach(field -> columns.add(ArrowField.of(field)));
        boolean[] payload = new boolean[columns.size()];
        for (int f = 0; f < fields.size(); f++) {
            payload[f + 1] = fields.get(f).payload();
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
