package dev.stoker.export;

import dev.stoker.export.read.ExportSelection;
import dev.stoker.export.read.ShardReader;
import dev.stoker.export.spec.Content;
import dev.stoker.export.spec.RowOrder;
import dev.stoker.export.spec.Shard;
import dev.stoker.formats.huggingface.ImageContent;
import dev.stoker.formats.write.RowBatch;
import dev.stoker.metadata.Snapshot;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Finds the columns that hold images, once for all files of an export: payload of the type {@code binary} that is
 * called {@code image}, or whose first value begins as an image.
 */
final class ImageColumns {
    private static final String IMAGE = "image";

    /** Samples of a split in which the first value of a column is looked for. */
    private static final long MOST_SAMPLES = 10_000;

    private static final long MEMORY = 256L << 20;

    private final Snapshot snapshot;
    private final ObjectStore store;

    ImageColumns(Snapshot snapshot, ObjectStore store) {
        this.snapshot = snapshot;
        this.store = store;
    }

    /**
     * Returns the names in the files.
     *
     * @param columns numbers of the columns, ascending: 0 for the key, f + 1 for field f
     * @param names their names in the files
     */
    HashSet<String> find(int[] columns, List<String> names, List<String> splits) throws IOException {
        HashSet<String> images = new HashSet<>();
        TreeMap<Integer, String> open = new TreeMap<>();
        for (int c = 0; c < columns.length; c++) {
            if (columns[c] > 0) {
                Field field = snapshot.info().fields().get(columns[c] - 1);
                if (field.payload() && field.type() == ScalarType.BINARY) {
                    if (names.get(c).equals(IMAGE)) {
                        images.add(IMAGE);
                    } else {
                        open.put(columns[c], names.get(c));
                    }
                }
            }
        }
        for (String split : splits) {
            if (!open.isEmpty()) {
                look(split, open, images);
            }
        }
        return images;
    }

    /** Moves the names of images, and removes the columns that have a value. */
    private void look(String split, TreeMap<Integer, String> open, HashSet<String> images) throws IOException {
        int[] numbers = open.keySet().stream().mapToInt(Integer::intValue).toArray();
        List<Field> fields = snapshot.info().fields();
        ExportSelection selection =
                ExportSelection.of(fields, new Content(numbers, new ArrayList<>(), "", "", null, null));
        long rows = Math.min(MOST_SAMPLES, snapshot.stream(split).liveRows());
        Shard first = new Shard(split, 0, 1, 0, rows);
        ShardReader reader = ShardReader.of(store, snapshot, selection, new RowOrder.Stored(), first, MEMORY);
        List<Integer> order = List.copyOf(open.keySet());
        for (RowBatch batch = reader.next(); batch != null && !open.isEmpty(); batch = reader.next()) {
            Iterator<Map.Entry<Integer, String>> left = open.entrySet().iterator();
            while (left.hasNext()) {
                Map.Entry<Integer, String> column = left.next();
                ArrowColumn values = batch.columns().get(order.indexOf(column.getKey()));
                int row = firstValue(values, batch.rows());
                if (row < batch.rows()) {
                    if (ImageContent.isImage(values.bytesAt(row))) {
                        images.add(column.getValue());
                    }
                    left.remove();
                }
            }
        }
    }

    private static int firstValue(ArrowColumn values, int rows) {
        int row = 0;
        while (row < rows && values.isNull(row)) {
            row++;
        }
        return row;
    }
}
