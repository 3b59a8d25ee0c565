package dev.stoker.ingest.rows.read;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.BeyondNanosecondsException;
import dev.stoker.formats.BlockReader;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.NullInListException;
import dev.stoker.formats.NullItemException;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.filter.RowFilter;
import dev.stoker.formats.partition.CompletedFile;
import dev.stoker.formats.partition.GivenColumn;
import dev.stoker.ingest.rows.content.TextSink;
import dev.stoker.ingest.rows.source.SourceFile;
import dev.stoker.ingest.rows.source.SourcePositions;
import dev.stoker.ingest.rows.source.SourceReader;
import dev.stoker.schemas.condition.RowExpression;
import dev.stoker.schemas.text.ShellText;
import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Reads the rows of runs. Keeps the last file open, because the next part is often in it. For one thread. */
public final class RowScan implements Closeable {
    private static final long ALL = Long.MAX_VALUE;

    private final RowWork work;
    private final RowFiles files;
    private final Optional<RowExpression> where;
    private final LeftOut leftOut;
    private final TextSink keyText = new TextSink("a key");
    private final TextSink splitText = new TextSink("the name of a split");

    private @Nullable Opened opened;
    private @Nullable RowReader reader;
    private int file;
    private long excluded;

    /**
     * A file that is open.
     *
     * @param file the file
     * @param source its bytes
     * @param rows its rows
     * @param bound the mapping's columns in it
     * @param filter decides which rows are taken, if not all are
     */
    private record Opened(
            SourceFile file, SourceReader source, RowFile rows, RowMapping.Bound bound, Optional<RowFilter> filter)
            implements Closeable {
        @Override
        public void close() throws IOException {
            try {
                rows.close();
            } finally {
                source.close();
            }
        }
    }

    /** Takes the rows. */
    public interface Handler {
        /**
         * Takes a row. May call {@link #value} for it.
         *
         * @param key of the sample, UTF-8
         * @param split from the source, or empty
         * @throws BadValueException if the row cannot be a sample; nothing of it may be left
         */
        void row(byte[] key, String split) throws BadValueException, IOException, InterruptedException;

        /** Returns whether the rest of the run is wanted. */
        default boolean wantsMore() {
            return true;
        }
    }

    /** Takes rows in blocks. */
    public interface BlockHandler {
        /**
         * Takes all rows of the present block, or none if it throws.
         *
         * @param bound the mapping's columns in the block
         * @param rows number of rows
         * @throws BadValueException if one of the rows cannot be a sample
         */
        void block(SourceFile file, BlockReader block, RowMapping.Bound bound, int rows)
                throws BadValueException, IOException, InterruptedException;
    }

    /** @param leftOut decides about rows and parts that cannot be read */
    public RowScan(RowWork work, LeftOut leftOut) {
        this.work = work;
        this.leftOut = leftOut;
        this.files = work.reading().files();
        this.where = work.mapping().condition();
    }

    /** Returns the number of rows that did not satisfy {@code --where}. */
    public long excluded() {
        return excluded;
    }

    /** Reads all rows of a run. */
    public void scan(RowRun run, Handler handler) throws IOException, InterruptedException {
        scan(run, handler, Optional.empty());
    }

    /**
     * Reads all rows of a run.
     *
     * @param blocks takes blocks of the files that can be read in blocks, up to the first block with a row that cannot
     *     be read or cannot be a sample
     */
    public void scan(RowRun run, Handler handler, Optional<BlockHandler> blocks)
            throws IOException, InterruptedException {
        for (RowRun.Piece piece : run.pieces()) {
            try {
                Opened from = open(piece.file());
                long done = blocks.isPresent() && from.filter().isEmpty() ? blocks(piece, from, blocks.get()) : 0;
                if (done < ALL) {
                    rows(piece, from, handler, done);
                }
            } catch (DamagedFileException e) {
                leftOut.part(piece, e);
            }
        }
    }

    /** Gives blocks of a part, and returns the number of rows that it gave. */
    private long blocks(RowRun.Piece piece, Opened from, BlockHandler handler)
            throws IOException, InterruptedException {
        long done = 0;
        Optional<BlockReader> found =
                from.rows().readBlocks(piece.part(), from.bound().selected());
        if (found.isEmpty()) {
            return done;
        }
        try (BlockReader block = found.get()) {
            for (int rows = block.next(); rows > 0; rows = block.next()) {
                handler.block(piece.file(), block, from.bound(), rows);
                done += rows;
            }
            return ALL;
        } catch (DamagedFileException | UnsupportedFileException | BadValueException e) {
            // Reading row by row finds the row, and decides about it.
            return done;
        }
    }

    private void rows(RowRun.Piece piece, Opened from, Handler handler, long done)
            throws IOException, InterruptedException {
        try (RowReader rows = from.rows().read(piece.part(), from.bound().selected())) {
            reader = rows;
            file = piece.place();
            for (long row = 0; row < done; row++) {
                rows.next();
            }
            while (handler.wantsMore() && next(piece, rows)) {
                row(piece, from, rows, handler);
            }
        } finally {
            reader = null;
        }
    }

    private boolean next(RowRun.Piece piece, RowReader rows) throws IOException {
        while (true) {
            try {
                return rows.next();
            } catch (DamagedFileException e) {
                if (!rows.skip()) {
                    leftOut.part(piece, e);
                    return false;
                }
                leftOut.damagedRow(piece.file(), rows.position(), e);
            }
        }
    }

    private void row(RowRun.Piece piece, Opened from, RowReader rows, Handler handler)
            throws IOException, InterruptedException {
        RowMapping.Bound bound = from.bound();
        String place = PositionKeys.of(piece.file().path(), rows.position());
        try {
            if (from.filter().isPresent() && !from.filter().get().matches(rows)) {
                excluded++;
                return;
            }
            byte[] key = (bound.key().length == 0 ? place : keyOf(piece, bound, rows)).getBytes(StandardCharsets.UTF_8);
            String split = piece.file().split();
            if (bound.split() >= 0) {
                rows.get(bound.split(), splitText);
                split = splitText.text();
            }
            handler.row(key, split);
        } catch (BadValueException e) {
            leftOut.row(piece.file(), rows.position(), e);
        }
    }

    private String keyOf(RowRun.Piece piece, RowMapping.Bound bound, RowReader rows)
            throws IOException, BadValueException {
        if (bound.key().length == 1) {
            return textAt(piece, bound, rows, 0);
        }
        StringBuilder text = new StringBuilder();
        for (int k = 0; k < bound.key().length; k++) {
            text.append(k == 0 ? "" : "/").append(textAt(piece, bound, rows, k));
        }
        return text.toString();
    }

    private String textAt(RowRun.Piece piece, RowMapping.Bound bound, RowReader rows, int k)
            throws IOException, BadValueException {
        if (bound.key()[k] == RowMapping.OF_FILE) {
            return piece.file().path();
        }
        try {
            rows.get(bound.key()[k], keyText);
        } catch (BadValueException e) {
            throw new BadValueException("column " + work.mapping().key().get(k) + ": " + e.getMessage());
        }
        if (keyText.text().isEmpty()) {
            throw new BadValueException("column " + work.mapping().key().get(k) + ": an empty key");
        }
        return keyText.text();
    }

    /** Returns the place of the present row in the source. */
    public long place() {
        return SourcePositions.place(
                file, Objects.requireNonNull(reader, "called for a row").position());
    }

    /** Gives the value of a mapped field of the present row. */
    public void value(int mapped, ValueSink sink) throws BadValueException, IOException {
        try {
            RowReader rows = Objects.requireNonNull(reader, "called for a row");
            int column =
                    Objects.requireNonNull(opened, "called for a row").bound().fields()[mapped];
            if (column < 0) {
                sink.setNull();
            } else {
                rows.get(column, sink);
            }
        } catch (BadValueException e) {
            RowMapping.Mapped column = work.mapping().fields().get(mapped);
            throw new BadValueException("column " + column.column() + ": " + e.getMessage() + advice(column, e));
        }
    }

    /** Returns the next steps that need the name of the column. */
    private static String advice(RowMapping.Mapped column, BadValueException e) {
        if (e instanceof NullInListException) {
            String keep = e instanceof NullItemException ? ListTypes.advice(column) : "";
            return (keep.isEmpty() ? ", or" : ",") + " leave the column out with --without "
                    + ShellText.word(column.column()) + keep;
        }
        return e instanceof BeyondNanosecondsException
                ? "; read the column with " + ShellText.pair("--type", column.column(), "timestamp[us]")
                : "";
    }

    private Opened open(SourceFile wanted) throws IOException {
        if (opened != null && opened.file().equals(wanted)) {
            return opened;
        }
        close();
        SourceReader source = SourceReader.open(wanted);
        try {
            RowFile file = files.open(wanted, source);
            RowFile rows = CompletedFile.of(file, wanted.location(), absent(file.schema()));
            RowMapping.Bound bound =
                    work.mapping().bind(rows.schema(), work.reading().types(), wanted.location());
            Opened now = new Opened(wanted, source, rows, bound, filter(rows.schema(), bound));
            opened = now;
            return now;
        } catch (IOException | RuntimeException e) {
            source.close();
            throw e;
        }
    }

    /** Returns the columns of the condition that a file lacks: its rows have no value for them. */
    private List<GivenColumn> absent(RowSchema schema) {
        Set<String> names = schema.columns().stream().map(RowColumn::name).collect(Collectors.toSet());
        return where.map(RowExpression::columns).orElse(Set.of()).stream()
                .filter(name -> !names.contains(name))
                .map(name -> GivenColumn.absent(name, work.reading().type(name)))
                .toList();
    }

    private Optional<RowFilter> filter(RowSchema schema, RowMapping.Bound bound) {
        List<RowColumn> selected =
                Arrays.stream(bound.selected()).mapToObj(schema.columns()::get).toList();
        Map<String, RowColumn> columns = new HashMap<>();
        selected.forEach(column -> columns.put(column.name(), column));
        return where.map(expression -> new RowFilter(expression.bind(RowColumn.types(columns)), selected));
    }

    @Override
    public void close() throws IOException {
        if (opened != null) {
            Opened before = opened;
            opened = null;
            before.close();
        }
    }
}
