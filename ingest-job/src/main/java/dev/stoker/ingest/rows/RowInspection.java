package dev.stoker.ingest.rows;

import dev.stoker.connectors.files.FileTree;
import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ColumnHints;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.HintedFormat;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowFormat;
import dev.stoker.formats.RowPart;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.formats.detection.Formats;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.schemas.arrow.FieldType;
import dev.stoker.schemas.errors.ErrorText;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * What the source holds: its files, their parts, and the columns that they have together. Reads what describes each
 * file, such as its footer, and the first rows of the first file. Runs on the machine that submits the job.
 *
 * @param format of all files
 * @param files the files, in the order of the source
 * @param pieces their parts, in the same order
 * @param columns the columns of all files, by name; a column is nullable if a file lacks it
 * @param refused the columns that cannot become fields
 * @param rows number of rows, or -1 if only reading tells
 * @param sizes mean bytes of a value of variable length in the first rows, by column
 * @param doubled names that occur twice in a file, of which only the first is taken
 */
record RowInspection(
        RowFormat format,
        List<SourceFile> files,
        List<RowRun.Piece> pieces,
        Map<String, RowColumn> columns,
        List<RowSchema.RefusedColumn> refused,
        long rows,
        Map<String, Long> sizes,
        List<String> doubled) {
    /** Files that are opened at a time, because each takes a few waits. */
    private static final int THREADS = 16;

    private static final int SAMPLED_ROWS = 1000;

    /** Limits the number of files, because the plan of the job holds each. */
    private static final long MOST_FILES = 1_000_000;

    private record Opened(RowSchema schema, List<RowPart> parts) {}

    /** Returns a column that the source has. */
    RowColumn column(String name) {
        return Objects.requireNonNull(columns.get(name), () -> "the source has the column " + name);
    }

    static RowInspection of(RowIngestOptions options) throws IOException {
        List<SourceFile> files = RowSources.list(options.sources(), options.tree(), MOST_FILES + 1);
        if (files.size() > MOST_FILES) {
            throw new InvalidIngestException(
                    "the sources have more than " + MOST_FILES + " files; ingest them in several steps with --append");
        }
        RowFormat format = options.format()
                .map(Formats::named)
                .or(() -> detected(files.get(0)))
                .orElseThrow(() -> new InvalidIngestException("cannot detect the format of "
                        + files.get(0).location() + "; name it with --format, or pack each file as one sample with"
                        + " --format files"));
        ReadLimits limits = limits(options.work().memoryBytes());
        ColumnHints hints = hints(options, files.get(0), format, limits);
        List<Optional<Opened>> opened =
                open(files, format, limits, hints, options.tree().errors());
        Map<String, RowColumn> columns = new LinkedHashMap<>();
        List<RowSchema.RefusedColumn> refused = new ArrayList<>();
        List<String> doubled = new ArrayList<>();
        List<RowRun.Piece> pieces = new ArrayList<>();
        long rows = 0;
        for (int i = 0; i < files.size(); i++) {
            if (opened.get(i).isEmpty()) {
                continue;
            }
            Opened file = opened.get(i).get();
            merge(file.schema(), files.get(i), columns, refused, doubled);
            for (RowPart part : file.parts()) {
                pieces.add(RowRun.Piece.of(files.get(i), part));
                rows = part.rows() < 0 || rows < 0 ? -1 : rows + part.rows();
            }
        }
        return new RowInspection(
                format, files, pieces, columns, refused, rows, sample(pieces, format, limits, hints), doubled);
    }

    static ReadLimits limits(long memoryBytes) {
        return new ReadLimits(
                memoryBytes,
                ReadLimits.DEFAULT.valueBytes(),
                ReadLimits.DEFAULT.depth(),
                ReadLimits.DEFAULT.expansion());
    }

    /** Returns the columns of the first file, which all must have if their format does not describe them. */
    private static ColumnHints hints(RowIngestOptions options, SourceFile first, RowFormat format, ReadLimits limits)
            throws IOException {
        if (!(format instanceof HintedFormat hinted)) {
            return ColumnHints.NONE;
        }
        Map<String, FieldType> declared = new LinkedHashMap<>();
        options.columns().types().forEach((name, type) -> declared.put(name, FieldType.parse(type)));
        ColumnHints hints = ColumnHints.types(declared);
        try (SourceReader reader = SourceReader.open(first);
                RowFile file = hinted.open(reader, limits, hints)) {
            List<RowColumn> columns = file.schema().columns();
            Optional<List<String>> taken = options.columns().taken();
            if (taken.isEmpty()) {
                // The refused columns are reported with the whole plan.
                return file.schema().refused().isEmpty() ? hints.fixed(columns, ColumnHints.Others.REFUSE) : hints;
            }
            Set<String> wanted = new HashSet<>(taken.get());
            wanted.addAll(options.columns().key());
            options.columns().split().ifPresent(wanted::add);
            return hints.fixed(
                    columns.stream()
                            .filter(column -> wanted.contains(column.name()))
                            .toList(),
                    ColumnHints.Others.IGNORE);
        } catch (IllegalArgumentException e) {
            throw new InvalidIngestException(
                    "the file " + first.location() + ": " + ErrorText.of(e) + "; rename one of them");
        } catch (DamagedFileException | UnsupportedFileException e) {
            throw new InvalidIngestException(ErrorText.of(e));
        }
    }

    private static Optional<RowFormat> detected(SourceFile file) {
        try {
            return RowSources.detect(file);
        } catch (IOException e) {
            throw new InvalidIngestException("cannot read " + file.location() + ": " + ErrorText.of(e));
        }
    }

    private static List<Optional<Opened>> open(
            List<SourceFile> files, RowFormat format, ReadLimits limits, ColumnHints hints, FileTree.Errors errors)
            throws IOException {
        ExecutorService threads = Executors.newFixedThreadPool(Math.min(THREADS, files.size()), work -> {
            Thread thread = new Thread(work, "stoker-inspect");
            thread.setDaemon(true);
            return thread;
        });
        try {
            List<Future<Opened>> opening = new ArrayList<>();
            for (SourceFile file : files) {
                opening.add(threads.submit(() -> {
                    try (SourceReader reader = SourceReader.open(file);
                            RowFile rows = open(format, reader, limits, hints)) {
                        return new Opened(rows.schema(), rows.parts());
                    }
                }));
            }
            List<Optional<Opened>> opened = new ArrayList<>();
            for (Future<Opened> file : opening) {
                opened.add(result(file, errors));
            }
            return opened;
        } finally {
            threads.shutdownNow();
        }
    }

    private static Optional<Opened> result(Future<Opened> file, FileTree.Errors errors) throws IOException {
        try {
            return Optional.of(file.get());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while the sources were opened");
        } catch (ExecutionException e) {
            if (errors == FileTree.Errors.SKIP && e.getCause() instanceof IOException) {
                return Optional.empty();
            }
            if (e.getCause() instanceof IOException failure) {
                throw new InvalidIngestException(ErrorText.of(failure));
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    private static void merge(
            RowSchema schema,
            SourceFile file,
            Map<String, RowColumn> columns,
            List<RowSchema.RefusedColumn> refused,
            List<String> doubled) {
        Map<String, RowColumn> own = new LinkedHashMap<>();
        for (RowColumn column : schema.columns()) {
            if (own.putIfAbsent(column.name(), column) != null && !doubled.contains(column.name())) {
                doubled.add(column.name());
            }
        }
        boolean isFirst = columns.isEmpty();
        for (RowColumn column : own.values()) {
            RowColumn known = columns.get(column.name());
            if (known == null) {
                columns.put(column.name(), nullable(column, column.nullable() || !isFirst));
            } else if (!known.type().equals(column.type())) {
                throw new InvalidIngestException("the column " + column.name() + " of " + file.location()
                        + " has the type " + column.type().canonical() + " (" + column.sourceType() + "), but "
                        + known.type().canonical() + " in the files before it; ingest the files apart, or leave the"
                        + " column out with --columns");
            } else {
                columns.put(column.name(), nullable(known, known.nullable() || column.nullable()));
            }
        }
        columns.replaceAll((name, column) -> own.containsKey(name) ? column : nullable(column, true));
        for (RowSchema.RefusedColumn column : schema.refused()) {
            if (refused.stream().noneMatch(r -> r.name().equals(column.name()))) {
                refused.add(column);
            }
        }
    }

    private static RowColumn nullable(RowColumn column, boolean nullable) {
        return new RowColumn(column.name(), column.type(), nullable, column.sourceType(), column.role());
    }

    /** Opens a file with the types that the whole source has, if its format does not describe them. */
    static RowFile open(RowFormat format, SourceReader reader, ReadLimits limits, ColumnHints hints)
            throws IOException {
        return format instanceof HintedFormat hinted ? hinted.open(reader, limits, hints) : format.open(reader, limits);
    }

    private static Map<String, Long> sample(
            List<RowRun.Piece> pieces, RowFormat format, ReadLimits limits, ColumnHints hints) throws IOException {
        Map<String, Long> sizes = new LinkedHashMap<>();
        if (pieces.isEmpty()) {
            return sizes;
        }
        RowRun.Piece first = pieces.get(0);
        try (SourceReader reader = SourceReader.open(first.file());
                RowFile file = open(format, reader, limits, hints)) {
            List<RowColumn> columns = file.schema().columns();
            int[] all = new int[columns.size()];
            for (int i = 0; i < all.length; i++) {
                all[i] = i;
            }
            long[] bytes = new long[all.length];
            long rows = 0;
            SizeSink size = new SizeSink();
            try (RowReader values = file.read(first.part(), all)) {
                while (rows < SAMPLED_ROWS && values.next()) {
                    for (int c = 0; c < bytes.length; c++) {
                        values.get(c, size.begin());
                        bytes[c] += size.bytes();
                    }
                    rows++;
                }
            } catch (BadValueException e) {
                // The tasks say so, with the row.
            }
            for (int c = 0; c < bytes.length; c++) {
                sizes.putIfAbsent(columns.get(c).name(), rows == 0 ? 0 : bytes[c] / rows);
            }
        }
        return sizes;
    }
}
