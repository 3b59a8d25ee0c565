package dev.stoker.export.task;

import dev.stoker.export.spec.Content;
import dev.stoker.formats.write.OutputColumn;
import dev.stoker.formats.write.OutputTable;
import dev.stoker.metadata.Snapshot;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Describes the columns of an export for the formats. */
public final class Tables {
    private Tables() {}

    /**
     * Returns the table.
     *
     * @param content its columns and compression
     */
    public static OutputTable of(Snapshot snapshot, Content content) {
        int[] columns = content.columns();
        List<String> names = content.names();
        List<OutputColumn> described = new ArrayList<>();
        for (int c = 0; c < columns.length; c++) {
            if (columns[c] == 0) {
                described.add(new OutputColumn(names.get(c), ScalarType.UTF8, false, false, List.of()));
                continue;
            }
            Field field = snapshot.info().fields().get(columns[c] - 1);
            List<String> classes =
                    field.type() == ScalarType.CATEGORICAL ? snapshot.classes().names(field.name()) : List.of();
            described.add(new OutputColumn(names.get(c), field.type(), field.nullable(), field.payload(), classes));
        }
        List<String> stored = Arrays.stream(columns)
                .mapToObj(number -> number == 0
                        ? Field.KEY
                        : snapshot.info().fields().get(number - 1).name())
                .toList();
        return new OutputTable(
                described, columns.length > 0 && columns[0] == 0 ? 0 : -1, content.compression(), stored);
    }
}
