package dev.stoker.ingest.rows.content;

import dev.stoker.connectors.files.FileTree;
import dev.stoker.formats.BadValueException;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowPart;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.filter.StatisticsFile;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.condition.RowPredicate;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A file with further columns behind its own: the contents of the files whose paths are in a column. Rows are short,
 * but contents are not, so a part of the file becomes several: ranges of its rows. For one thread.
 */
final class ContentFile implements StatisticsFile {
    /** Bytes of the contents of a part, about. */
    private static final long PART_BYTES = 8 << 20;

    private static final int SAMPLED_ROWS = 16;

    private final RowFile file;
    private final FileContents contents;
    private final ContentTree tree;
    private final int own;

    /** For each content the index of the column with its path, or -1. */
    private final int[] paths;

    private final RowSchema schema;

    /** Rows of a part are read one range after the other, mostly. */
    private @Nullable Cursor cursor;

    ContentFile(RowFile file, FileContents all, ContentTree tree) {
        List<FileContents.Column> contents = all.columns();
        this.file = file;
        this.contents = all;
        this.tree = tree;
        this.own = file.schema().columns().size();
        this.paths = contents.stream().mapToInt(this::pathColumn).toArray();
        List<RowColumn> columns = new ArrayList<>(file.schema().columns());
        columns.replaceAll(column -> contents.stream()
                .filter(content -> content.name().equals(column.name()))
                .findFirst()
                .map(content -> named(column, content.pathName()))
                .orElse(column));
        for (FileContents.Column content : contents) {
            boolean isBinary = content.fieldType() == ScalarType.BINARY;
            columns.add(new RowColumn(
                    content.field(),
                    content.fieldType(),
                    true,
                    "the file in column " + content.name(),
                    isBinary ? RowColumn.Role.PAYLOAD : RowColumn.Role.NONE));
        }
        this.schema =
                new RowSchema(columns, file.schema().refused(), file.schema().nullLists());
    }

    private static RowColumn named(RowColumn column, String name) {
        return new RowColumn(
                name,
                column.type(),
                column.nullable(),
                column.sourceType(),
                column.role(),
                column.classes(),
                column.absent());
    }

    @Override
    public RowSchema schema() {
        return schema;
    }

    /** The position of a part is its first row in a part of the file, whose number it has. */
    @Override
    public List<RowPart> parts() throws IOException {
        List<RowPart> ranges = new ArrayList<>();
        long bytes = 0;
        for (RowPart part : file.parts()) {
            long rows = part.rows() < 0 ? count(part) : part.rows();
            bytes = bytes == 0 && rows > 0 ? meanBytes(part) : bytes;
            long step = Math.max(1, PART_BYTES / Math.max(1, bytes));
            for (long first = 0; first < rows; first += step) {
                long count = Math.min(step, rows - first);
                ranges.add(new RowPart(part.number(), first, count * bytes, count, part.memoryBytes()));
            }
        }
        return ranges;
    }

    private long count(RowPart part) throws IOException {
        long rows = 0;
        try (RowReader reader = file.read(part, new int[0])) {
            boolean isAtEnd = false;
            while (!isAtEnd) {
                try {
                    isAtEnd = !reader.next();
                } catch (DamagedFileException e) {
                    // The task that reads this row reports it.
                    isAtEnd = !reader.skip();
                    rows += isAtEnd ? 1 : 0;
                }
                rows += isAtEnd ? 0 : 1;
            }
        }
        return rows;
    }

    /** Returns the mean length of the contents of the first rows. */
    private long meanBytes(RowPart part) throws IOException {
        int[] columns = Arrays.stream(paths).filter(column -> column >= 0).toArray();
        PathSink path = new PathSink();
        long bytes = 0;
        int rows = 0;
        try (RowReader reader = file.read(part, columns)) {
            while (rows < SAMPLED_ROWS && reader.next()) {
                rows++;
                for (int c = 0; c < columns.length; c++) {
                    Optional<String> text = path.of(reader, c);
                    bytes += text.isEmpty() ? 0 : tree.length(text.get()).orElse(0L);
                }
            }
        } catch (DamagedFileException | BadValueException e) {
            // The task that reads this row reports it.
        }
        return Math.max(1, bytes / Math.max(1, rows));
    }

    private int pathColumn(FileContents.Column content) {
        for (int i = 0; i < own; i++) {
            if (file.schema().columns().get(i).name().equals(content.name())) {
                return i;
            }
        }
        return -1;
    }

    private RowPart inner(RowPart range) throws IOException {
        return file.parts().stream()
                .filter(part -> part.number() == range.number())
                .findFirst()
                .orElseThrow(() -> new IOException("the file has changed during the ingest: its part " + range.number()
                        + " is missing; run the ingest again when nothing writes to it"));
    }

    @Override
    public boolean mayMatch(RowPart part, RowPredicate predicate) throws IOException {
        return !(file instanceof StatisticsFile statistics) || statistics.mayMatch(inner(part), predicate);
    }

    @Override
    public RowReader read(RowPart range, int[] columns) throws IOException {
        int[] places = new int[columns.length];
        int[] inner = new int[columns.length];
        int count = 0;
        for (int i = 0; i < columns.length; i++) {
            int column = columns[i] < own ? columns[i] : paths[columns[i] - own];
            places[i] = column < 0 ? -1 : count;
            if (column >= 0) {
                inner[count++] = column;
            }
        }
        inner = Arrays.copyOf(inner, count);
        Cursor known = cursor;
        if (known == null || !known.canRead(range, inner)) {
            close(known);
            cursor = null;
            known = new Cursor(file.read(inner(range), inner), range.number(), inner);
            cursor = known;
        }
        known.moveTo(range.offset());
        return new Reader(known, columns.clone(), places, range.rows());
    }

    private static void close(@Nullable Cursor cursor) throws IOException {
        if (cursor != null) {
            cursor.rows.close();
        }
    }

    @Override
    public void close() throws IOException {
        try (tree;
                file) {
            close(cursor);
        }
    }

    /** A place in a part of the file. */
    private static final class Cursor {
        final RowReader rows;
        private final int part;
        private final int[] columns;
        private long next;

        Cursor(RowReader rows, int part, int[] columns) {
            this.rows = rows;
            this.part = part;
            this.columns = columns;
        }

        boolean canRead(RowPart range, int[] wanted) {
            return part == range.number() && next <= range.offset() && Arrays.equals(columns, wanted);
        }

        /** Moves before a row. Damaged rows on the way are reported by the tasks that read them. */
        void moveTo(long row) throws IOException {
            while (next < row) {
                try {
                    if (!next()) {
                        return;
                    }
                } catch (DamagedFileException e) {
                    if (!rows.skip()) {
                        return;
                    }
                }
            }
        }

        boolean next() throws IOException {
            next++;
            return rows.next();
        }
    }

    /** Takes a path, or its absence. */
    private static final class PathSink extends TextSink {
        private boolean isNull;

        PathSink() {
            super("the path of a file");
        }

        @Override
        public void setNull() {
            isNull = true;
        }

        Optional<String> of(RowReader rows, int column) throws IOException, BadValueException {
            isNull = false;
            rows.get(column, this);
            return isNull ? Optional.empty() : Optional.of(text());
        }
    }

    /** Not thread-safe. */
    private final class Reader implements RowReader {
        private final Cursor cursor;
        private final int[] columns;
        private final int[] places;
        private final PathSink path = new PathSink();
        private long left;

        Reader(Cursor cursor, int[] columns, int[] places, long rows) {
            this.cursor = cursor;
            this.columns = columns;
            this.places = places;
            this.left = rows;
        }

        @Override
        public boolean next() throws IOException {
            if (left == 0) {
                return false;
            }
            left--;
            return cursor.next();
        }

        @Override
        public long position() {
            return cursor.rows.position();
        }

        @Override
        public void get(int column, ValueSink sink) throws IOException, BadValueException {
            if (columns[column] < own) {
                cursor.rows.get(places[column], sink);
                return;
            }
            Optional<String> text = places[column] < 0 ? Optional.empty() : path.of(cursor.rows, places[column]);
            if (text.isEmpty()) {
                sink.setNull();
            } else {
                sink.setBytes(content(columns[column] - own, text.get()));
            }
        }

        private ByteBuffer content(int index, String path) throws IOException, BadValueException {
            ByteBuffer content = tree.read(path);
            boolean mayBeEmpty = contents.empty() == FileTree.Empty.INCLUDE
                    || contents.columns().get(index).fieldType() != ScalarType.BINARY;
            if (!content.hasRemaining() && !mayBeEmpty) {
                throw new BadValueException("the file " + path + " is empty; take empty files with --empty include");
            }
            return content;
        }

        @Override
        public boolean skip() {
            return cursor.rows.skip();
        }

        /** The cursor stays for the next range. */
        @Override
        public void close() {}
    }
}
