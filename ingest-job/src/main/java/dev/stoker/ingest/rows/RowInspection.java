package dev.stoker.ingest.rows;

import dev.stoker.connectors.files.FileTree;
import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ColumnHints;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.HintedFormat;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowFormat;
import dev.stoker.formats.RowPart;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.ingest.rows.options.MdsShards;
import dev.stoker.ingest.rows.options.RowIngestOptions;
import dev.stoker.ingest.rows.options.RowSources;
import dev.stoker.ingest.rows.options.SourceFormat;
import dev.stoker.ingest.rows.read.OpenedFiles;
import dev.stoker.ingest.rows.read.RowFiles;
import dev.stoker.ingest.rows.read.RowRun;
import dev.stoker.ingest.rows.read.RowWork;
import dev.stoker.ingest.rows.read.SizeSink;
import dev.stoker.ingest.rows.source.PathColumns;
import dev.stoker.ingest.rows.source.SourceColumns;
import dev.stoker.ingest.rows.source.SourceFile;
import dev.stoker.ingest.rows.source.SourceReader;
import dev.stoker.ingest.rows.source.Unreadable;
import dev.stoker.ingest.rows.source.WhereParts;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.condition.RowExpression;
import dev.stoker.schemas.errors.ErrorText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The content of a source: its files, their parts, and the columns of all files. Reads the metadata of each file, such
 * as its footer, and the first rows of the first file. Runs on the machine that submits the job.
 *
 * @param reading opens the files
 * @param files the files, in the order of the source
 * @param pieces their parts, in the same order, without the parts that {@code --where} excludes
 * @param found the columns of all files
 * @param rows number of rows in the pieces, or -1 if only reading tells
 * @param sizes mean bytes of a value of variable length in the first rows, by column
 * @param nullItems columns with lists of which an item is null in the first rows
 * @param omitted counts of files and rows that are left out before the tasks read anything
 * @param ownPathColumns columns that the directories give and the first file has too
 */
public record RowInspection(
        RowFiles reading,
        List<SourceFile> files,
        List<RowRun.Piece> pieces,
        SourceColumns found,
        long rows,
        Map<String, Long> sizes,
        Set<String> nullItems,
        RowWork.Omitted omitted,
        Set<String> ownPathColumns) {
    private static final int SAMPLED_ROWS = 1000;

    /** Limits the number of files, because the plan of the job holds each. */
    private static final long MOST_FILES = 1_000_000;

    public RowFormat format() {
        return reading.format();
    }

    /** Returns whether the parts have a row, also one that cannot be read. */
    boolean hasRows() throws IOException {
        if (rows >= 0) {
            return rows > 0;
        }
        for (RowRun.Piece piece : pieces) {
            try (SourceReader reader = SourceReader.open(piece.file());
                    RowFile file = reading.open(piece.file(), reader);
                    RowReader values = file.read(piece.part(), new int[0])) {
                if (values.next()) {
                    return true;
                }
            } catch (DamagedFileException | UnsupportedFileException e) {
                // The tasks report it, with the place.
                return true;
            }
        }
        return false;
    }

    /** Returns the columns of all files, by name. */
    public Map<String, RowColumn> columns() {
        return found.columns();
    }

    /** Returns a column that the source has. */
    public RowColumn column(String name) {
        return Objects.requireNonNull(columns().get(name), () -> "the source has the column " + name);
    }

    public static RowInspection of(RowIngestOptions options) throws IOException {
        List<String> warnings = new ArrayList<>();
        List<SourceFile> all = listed(options, warnings);
        if (all.size() > MOST_FILES) {
            throw new InvalidIngestException(
                    "the sources have more than " + MOST_FILES + " files; ingest them in several steps with --append");
        }
        SourceFormat format = SourceFormat.of(options, all);
        List<SourceFile> files = format.files();
        PathColumns path = PathColumns.of(files, options.columns().types());
        RowFiles first = new RowFiles(
                format.format(),
                RowFiles.limits(options.work().memoryBytes()),
                declared(options, format.format(), path),
                path,
                options.columns().contents(),
                new MdsShards(),
                Map.of());
        SourceColumns columns = new SourceColumns(warnings);
        RowFiles reading = first.with(hints(options, files, first, columns));
        Set<String> own = new HashSet<>();
        WhereParts where = where(options, files.get(0), reading, own);
        List<SourceFile> wanted = where.inDirectories(files);
        return collect(options, reading, format, wanted, where, own, columns);
    }

    /** Returns the files, in the splits that the source has unless the user chose others. */
    private static List<SourceFile> listed(RowIngestOptions options, List<String> warnings) throws IOException {
        List<SourceFile> files = RowSources.list(options.sources(), options.tree(), MOST_FILES + 1, warnings);
        return options.splitRule().isPresent() || options.columns().split().isPresent()
                ? files.stream().map(file -> file.inSplit("")).toList()
                : files;
    }

    private static RowInspection collect(
            RowIngestOptions options,
            RowFiles reading,
            SourceFormat source,
            List<SourceFile> files,
            WhereParts where,
            Set<String> own,
            SourceColumns columns)
            throws IOException {
        OpenedFiles all = OpenedFiles.of(files, reading, where, options.tree().errors());
        if (all.unreadable().size() == files.size()) {
            throw new InvalidIngestException("no file of the source can be read: "
                    + all.unreadable().get(0).reason());
        }
        List<RowRun.Piece> pieces = new ArrayList<>();
        long rows = 0;
        long excludedParts = 0;
        long excludedRows = 0;
        for (int i = 0; i < files.size(); i++) {
            if (all.opened().get(i).isEmpty()) {
                continue;
            }
            OpenedFiles.Opened file = all.opened().get(i).get();
            columns.add(file.schema(), files.get(i));
            excludedParts += file.parts().excludedParts();
            excludedRows += file.parts().excludedRows();
            for (RowPart part : file.parts().parts()) {
                pieces.add(RowRun.Piece.of(files.get(i), i, part));
                rows = part.rows() < 0 || rows < 0 ? -1 : rows + part.rows();
            }
        }
        columns.complete(options.columns().types());
        ArrayList<Unreadable> unreadable = new ArrayList<>(source.others());
        unreadable.addAll(all.unreadable());
        Set<String> nullItems = new HashSet<>();
        Map<String, Long> sizes = sample(pieces, reading.readAs(columns.nullListTypes()), options.columns(), nullItems);
        return new RowInspection(
                reading,
                source.files(),
                pieces,
                columns,
                rows,
                sizes,
                nullItems,
                new RowWork.Omitted(
                        (long) source.files().size() - files.size(), excludedParts, excludedRows, unreadable),
                own);
    }

    /** Returns the types that the user has declared for columns of the files. */
    private static ColumnHints declared(RowIngestOptions options, RowFormat format, PathColumns path) {
        if (!(format instanceof HintedFormat)) {
            return ColumnHints.NONE;
        }
        Map<String, FieldType> declared = new LinkedHashMap<>();
        options.columns().types().forEach((name, type) -> declared.put(name, FieldType.parse(type)));
        declared.keySet().removeAll(path.types().keySet());
        declared.keySet().removeAll(options.columns().contents().fields());
        return new ColumnHints(
                List.of(),
                declared,
                Set.of(),
                options.columns().taken().isPresent() ? ColumnHints.Others.OFFER : ColumnHints.Others.INFER);
    }

    /**
     * Returns the columns of the first file, which all must have if their format does not describe them.
     *
     * @param all gets the names of the others
     */
    private static ColumnHints hints(
            RowIngestOptions options, List<SourceFile> files, RowFiles reading, SourceColumns all) throws IOException {
        if (!(reading.format() instanceof HintedFormat)) {
            return reading.hints();
        }
        for (SourceFile file : files.subList(0, files.size() - 1)) {
            try {
                return hints(options, file, reading, all);
            } catch (InvalidIngestException e) {
                // The next file may be sound. Opening all files, and reading their rows, reports this one.
                if (options.tree().errors() == FileTree.Errors.FAIL) {
                    throw e;
                }
            }
        }
        return hints(options, files.get(files.size() - 1), reading, all);
    }

    private static ColumnHints hints(RowIngestOptions options, SourceFile first, RowFiles reading, SourceColumns all)
            throws IOException {
        ColumnHints hints = reading.hints();
        try (SourceReader reader = SourceReader.open(first);
                RowFile file = reading.openAlone(first, reader)) {
            List<RowColumn> columns = file.schema().columns();
            columns.stream()
                    .filter(RowColumn::absent)
                    .forEach(column -> all.warn("note: the first rows of " + first.location() + " have no column "
                            + column.name() + "; because of its type it becomes a field"));
            Optional<List<String>> taken = options.columns().taken();
            if (taken.isEmpty()) {
                // The refused columns are reported with the whole plan.
                List<String> without = options.columns().without();
                boolean isRefused =
                        file.schema().refused().stream().anyMatch(column -> !without.contains(column.name()));
                boolean isDoubled = columns.stream()
                                .map(RowColumn::name)
                                .filter(name -> !without.contains(name))
                                .distinct()
                                .count()
                        < columns.stream()
                                .filter(column -> !without.contains(column.name()))
                                .count();
                return isRefused || isDoubled
                        ? hints
                        : hints.fixed(known(firstOfName(columns), options), ColumnHints.Others.REFUSE);
            }
            Set<String> wanted = new HashSet<>(taken.get());
            options.columns().without().forEach(wanted::remove);
            wanted.addAll(options.columns().key());
            wanted.addAll(options.columns().contents().names());
            options.columns().split().ifPresent(wanted::add);
            options.columns().where().map(RowExpression::columns).ifPresent(wanted::addAll);
            all.ignore(columns.stream()
                    .map(RowColumn::name)
                    .filter(name -> !wanted.contains(name))
                    .toList());
            return hints.fixed(
                    firstOfName(columns).stream()
                            .filter(column -> wanted.contains(column.name()))
                            .toList(),
                    ColumnHints.Others.IGNORE);
        } catch (IllegalArgumentException e) {
            throw new InvalidIngestException("the file " + first.location() + ": " + ErrorText.of(e));
        } catch (DamagedFileException | UnsupportedFileException e) {
            throw new InvalidIngestException(ErrorText.of(e));
        }
    }

    /** Returns the columns without those that have the name of one before them. */
    private static List<RowColumn> firstOfName(List<RowColumn> columns) {
        Map<String, RowColumn> first = new LinkedHashMap<>();
        columns.forEach(column -> first.putIfAbsent(column.name(), column));
        return List.copyOf(first.values());
    }

    /** Adds the columns that are left out although no type is known, because they must not be unexpected. */
    private static List<RowColumn> known(List<RowColumn> columns, RowIngestOptions options) {
        Set<String> names = columns.stream().map(RowColumn::name).collect(Collectors.toSet());
        List<RowColumn> known = new ArrayList<>(columns);
        options.columns().without().stream()
                .filter(name -> !names.contains(name))
                .forEach(
                        name -> known.add(new RowColumn(name, ScalarType.UTF8, true, "left out", RowColumn.Role.NONE)));
        return known;
    }

    /**
     * Returns what applies the condition to files and parts, by the columns of the first file.
     *
     * @param own gets the columns of directories that the file has too
     */
    private static WhereParts where(RowIngestOptions options, SourceFile first, RowFiles reading, Set<String> own)
            throws IOException {
        if (options.columns().where().isEmpty() && reading.path().types().isEmpty()) {
            return WhereParts.ALL;
        }
        SourceColumns columns = new SourceColumns(List.of());
        try (SourceReader reader = SourceReader.open(first);
                RowFile file = reading.openAlone(first, reader)) {
            columns.add(file.schema(), first);
        } catch (DamagedFileException | UnsupportedFileException e) {
            // Opening all files reports it.
            return WhereParts.ALL;
        }
        own.addAll(columns.columns().keySet());
        own.retainAll(reading.path().types().keySet());
        return new WhereParts(options.columns().where(), columns.columns(), reading.path(), own);
    }

    /** Reads only the columns that become fields: a column that the user leaves out may be too large to read. */
    private static Map<String, Long> sample(
            List<RowRun.Piece> pieces, RowFiles reading, RowIngestOptions.Columns wanted, Set<String> nullItems)
            throws IOException {
        Map<String, Long> sizes = new LinkedHashMap<>();
        if (pieces.isEmpty()) {
            return sizes;
        }
        RowRun.Piece first = pieces.get(0);
        try (SourceReader reader = SourceReader.open(first.file());
                RowFile file = reading.open(first.file(), reader)) {
            List<RowColumn> columns = file.schema().columns();
            int[] fields = IntStream.range(0, columns.size())
                    .filter(c -> wanted.isField(columns.get(c).name()))
                    .toArray();
            long[] bytes = new long[fields.length];
            long rows = 0;
            SizeSink size = new SizeSink();
            try (RowReader values = file.read(first.part(), fields)) {
                while (rows < SAMPLED_ROWS && values.next()) {
                    for (int c = 0; c < bytes.length; c++) {
                        values.get(c, size.begin());
                        bytes[c] += size.bytes();
                        if (size.hadNullItems()) {
                            nullItems.add(columns.get(fields[c]).name());
                        }
                    }
                    rows++;
                }
            } catch (BadValueException | DamagedFileException e) {
                // The tasks report it, with the place.
            }
            for (int c = 0; c < bytes.length; c++) {
                sizes.putIfAbsent(columns.get(fields[c]).name(), rows == 0 ? 0 : bytes[c] / rows);
            }
        }
        return sizes;
    }
}
