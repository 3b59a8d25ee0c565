package dev.stoker.ingest.rows;

import dev.stoker.connectors.files.FileSkip;
import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.connectors.files.listing.UnreadableException;
import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ColumnHints;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowFormat;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.detection.Formats;
import dev.stoker.schemas.errors.ErrorText;
import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Reads the rows of runs. Keeps the last file open, because the next part is often in it. For one thread. */
final class RowScan implements Closeable {
    private final RowWork work;
    private final RowFormat format;
    private final ReadLimits limits;
    private final ColumnHints hints;
    private final SkipCounts skipped;
    private final TextSink keyText = new TextSink("a key");
    private final TextSink splitText = new TextSink("the name of a split");

    private @Nullable Opened opened;
    private @Nullable RowReader reader;

    /**
     * A file that is open.
     *
     * @param file the file
     * @param source its bytes
     * @param rows its rows
     * @param bound the mapping's columns in it
     */
    private record Opened(SourceFile file, SourceReader source, RowFile rows, RowMapping.Bound bound)
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
    interface Handler {
        /**
         * Takes a row. May call {@link #value} for it.
         *
         * @param key of the sample, UTF-8
         * @param split from the source, or empty
         * @throws BadValueException if the row cannot be a sample; nothing of it may be left
         */
        void row(byte[] key, String split) throws BadValueException, IOException, InterruptedException;
    }

    /** @param skipped counts rows that are left out */
    RowScan(RowWork work, SkipCounts skipped) {
        this.work = work;
        this.skipped = skipped;
        this.format = Formats.named(work.format());
        this.hints = work.hints();
        this.limits = new ReadLimits(
                work.memoryBytes(),
                ReadLimits.DEFAULT.valueBytes(),
                ReadLimits.DEFAULT.depth(),
                ReadLimits.DEFAULT.expansion());
    }

    /** Reads all rows of a run. */
    void scan(RowRun run, Handler handler) throws IOException, InterruptedException {
        for (RowRun.Piece piece : run.pieces()) {
            try {
                Opened from = open(piece.file());
                try (RowReader rows =
                        from.rows().read(piece.part(), from.bound().selected())) {
                    reader = rows;
                    while (next(piece, rows)) {
                        row(piece, from.bound(), rows, handler);
                    }
                } finally {
                    reader = null;
                }
            } catch (DamagedFileException e) {
                leaveOut(piece.file().path(), e);
            }
        }
    }

    private boolean next(RowRun.Piece piece, RowReader rows) throws IOException {
        while (true) {
            try {
                return rows.next();
            } catch (DamagedFileException e) {
                leaveOut(piece.file().path(), e);
                if (!rows.skip()) {
                    return false;
                }
            }
        }
    }

    private void row(RowRun.Piece piece, RowMapping.Bound bound, RowReader rows, Handler handler)
            throws IOException, InterruptedException {
        String place = piece.file().path() + "#" + rows.position();
        try {
            byte[] key = (bound.key().length == 0 ? place : keyOf(bound, rows)).getBytes(StandardCharsets.UTF_8);
            String split = "";
            if (bound.split() >= 0) {
                rows.get(bound.split(), splitText);
                split = splitText.text();
            }
            handler.row(key, split);
        } catch (BadValueException e) {
            leaveOut(work, skipped, place, e);
        }
    }

    /** Fails the ingest for a row that cannot be a sample, or counts it. */
    static void leaveOut(RowWork work, SkipCounts skipped, String place, BadValueException why) throws IOException {
        if (work.errors() == FileTree.Errors.FAIL) {
            throw new UnreadableException("the row " + place + " cannot be a sample: " + why.getMessage()
                    + "; correct it, or leave such rows out with --on-error skip");
        }
        skipped.add(FileSkip.UNREADABLE, place);
    }

    private String keyOf(RowMapping.Bound bound, RowReader rows) throws IOException, BadValueException {
        if (bound.key().length == 1) {
            return textAt(bound, rows, 0);
        }
        StringBuilder text = new StringBuilder();
        for (int k = 0; k < bound.key().length; k++) {
            text.append(k == 0 ? "" : "/").append(textAt(bound, rows, k));
        }
        return text.toString();
    }

    private String textAt(RowMapping.Bound bound, RowReader rows, int k) throws IOException, BadValueException {
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

    /** Gives the value of a mapped field of the present row. */
    void value(int mapped, ValueSink sink) throws BadValueException, IOException {
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
            throw new BadValueException(
                    "column " + work.mapping().fields().get(mapped).column() + ": " + e.getMessage());
        }
    }

    private void leaveOut(String place, IOException why) throws IOException {
        if (work.errors() == FileTree.Errors.FAIL) {
            throw new UnreadableException(ErrorText.of(why));
        }
        skipped.add(FileSkip.UNREADABLE, place);
    }

    private Opened open(SourceFile wanted) throws IOException {
        if (opened != null && opened.file().equals(wanted)) {
            return opened;
        }
        close();
        SourceReader source = SourceReader.open(wanted);
        try {
            RowFile rows = RowInspection.open(format, source, limits, hints);
            RowMapping.Bound bound = work.mapping().bind(rows.schema(), work.types(), wanted.location());
            Opened now = new Opened(wanted, source, rows, bound);
            opened = now;
            return now;
        } catch (IOException | RuntimeException e) {
            source.close();
            throw e;
        }
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
