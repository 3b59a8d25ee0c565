package dev.stoker.formats.partition;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowPart;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.filter.StatisticsFile;
import dev.stoker.schemas.condition.RowPredicate;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A file with further columns behind its own, which have one value for all rows. If the file has a column of the same
 * name itself, each of its values must be that value. For one thread.
 */
public final class CompletedFile implements StatisticsFile {
    private final RowFile file;
    private final int own;
    private final List<GivenColumn> added;
    private final Map<Integer, GivenCheck> checks;
    private final RowSchema schema;

    private CompletedFile(RowFile file, List<GivenColumn> added, Map<Integer, GivenCheck> checks) {
        this.file = file;
        this.own = file.schema().columns().size();
        this.added = added;
        this.checks = checks;
        List<RowColumn> columns = new ArrayList<>(file.schema().columns());
        added.forEach(column -> columns.add(column.column()));
        this.schema =
                new RowSchema(columns, file.schema().refused(), file.schema().nullLists());
    }

    /**
     * Completes a file.
     *
     * @param name of the file, for messages
     * @param given the further columns
     * @throws UnsupportedFileException if the file has a column of the same name whose type cannot have the value
     */
    public static RowFile of(RowFile file, String name, List<GivenColumn> given) throws UnsupportedFileException {
        if (given.isEmpty()) {
            return file;
        }
        List<GivenColumn> added = new ArrayList<>();
        Map<Integer, GivenCheck> checks = new HashMap<>();
        List<RowColumn> columns = file.schema().columns();
        for (GivenColumn column : given) {
            boolean isOwn = false;
            for (int i = 0; i < columns.size(); i++) {
                if (columns.get(i).name().equals(column.name())) {
                    isOwn = true;
                    checks.put(i, new GivenCheck(column, columns.get(i), name));
                }
            }
            if (!isOwn) {
                added.add(column);
            }
        }
        return new CompletedFile(file, added, checks);
    }

    @Override
    public RowSchema schema() {
        return schema;
    }

    @Override
    public List<RowPart> parts() throws IOException {
        return file.parts();
    }

    @Override
    public boolean mayMatch(RowPart part, RowPredicate predicate) throws IOException {
        return part.rows() != 0
                && new PartOutcomes(added, file instanceof StatisticsFile statistics ? statistics : null, part)
                        .of(predicate)
                        .canBeTrue();
    }

    /**
     * Returns whether a file with these columns may have a row for which the predicate is true. False is certain.
     *
     * @param given columns of the file
     */
    public static boolean mayMatch(List<GivenColumn> given, RowPredicate predicate) throws IOException {
        return new PartOutcomes(given, null, new RowPart(0, 0, 0, -1, 0))
                .of(predicate)
                .canBeTrue();
    }

    @Override
    public RowReader read(RowPart part, int[] columns) throws IOException {
        int count = 0;
        int[] inner = new int[columns.length];
        int[] places = new int[columns.length];
        for (int i = 0; i < columns.length; i++) {
            if (columns[i] < own) {
                places[i] = count;
                inner[count++] = columns[i];
            } else {
                places[i] = -1;
            }
        }
        return new Reader(file.read(part, Arrays.copyOf(inner, count)), columns.clone(), places);
    }

    @Override
    public void close() throws IOException {
        file.close();
    }

    /** Not thread-safe. */
    private final class Reader implements RowReader {
        private final RowReader rows;
        private final int[] columns;
        private final int[] places;

        Reader(RowReader rows, int[] columns, int[] places) {
            this.rows = rows;
            this.columns = columns;
            this.places = places;
        }

        @Override
        public boolean next() throws IOException {
            return rows.next();
        }

        @Override
        public long position() {
            return rows.position();
        }

        @Override
        public void get(int column, ValueSink sink) throws IOException, BadValueException {
            if (places[column] < 0) {
                added.get(columns[column] - own).give(sink);
                return;
            }
            GivenCheck check = checks.get(columns[column]);
            if (check != null) {
                check.require(rows, places[column]);
            }
            rows.get(places[column], sink);
        }

        @Override
        public boolean skip() {
            return rows.skip();
        }

        @Override
        public void close() throws IOException {
            rows.close();
        }
    }
}
