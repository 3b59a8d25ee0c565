package dev.stoker.ingest.rows;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.formats.webdataset.WebDatasetFormat;
import dev.stoker.ingest.rows.content.ContentTree;
import dev.stoker.ingest.rows.content.TextSink;
import dev.stoker.ingest.rows.options.RowIngestOptions;
import dev.stoker.ingest.rows.read.RowRun;
import dev.stoker.ingest.rows.source.SourceReader;
import dev.stoker.ingest.rows.source.SplitNames;
import dev.stoker.ingest.spec.FileKind;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.text.ShellText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** Warns if the ingest takes columns as values that name files, splits or rows. Reads the first rows. For one use. */
final class TableHints {
    private static final int SAMPLED_ROWS = 64;

    /** Values of a column that must be the paths of files. */
    private static final int PATHS = 3;

    private static final Pattern PANDAS_INDEX = Pattern.compile("__index_level_[0-9]+__");

    private final RowIngestOptions options;
    private final RowInspection source;
    private final List<RowColumn> texts = new ArrayList<>();
    private final List<List<String>> values = new ArrayList<>();

    private TableHints(RowIngestOptions options, RowInspection source) {
        this.options = options;
        this.source = source;
    }

    static List<String> of(RowIngestOptions options, RowInspection source) throws IOException {
        boolean isArchive = source.format() instanceof WebDatasetFormat;
        boolean looksForFiles =
                !isArchive && options.columns().contents().columns().isEmpty();
        boolean looksForSplits =
                options.splitRule().isEmpty() && options.columns().split().isEmpty();
        if (source.pieces().isEmpty() || (!looksForFiles && !looksForSplits && !isArchive)) {
            return indexes(options, source);
        }
        TableHints hints = new TableHints(options, source);
        List<String> lines = new ArrayList<>(indexes(options, source));
        try {
            hints.read(source.pieces().get(0));
        } catch (DamagedFileException | UnsupportedFileException e) {
            // The tasks report it, with the place.
            return lines;
        }
        lines.addAll(hints.archives());
        for (int c = 0; c < hints.texts.size(); c++) {
            String name = hints.texts.get(c).name();
            if (looksForFiles && hints.areFiles(hints.values.get(c))) {
                String field = FileKind.of(hints.values.get(c).get(0)).field();
                boolean isFree = name.equals(field) || !source.columns().containsKey(field);
                lines.add("warning: the column " + name + " names files, such as "
                        + hints.values.get(c).get(0) + ", but only the names are packed; to pack the files, give "
                        + ShellText.pair("--read", name, isFree ? field : name));
            }
            if (looksForSplits && areSplits(hints.values.get(c))) {
                lines.add("warning: the column " + name + " has names of splits, such as "
                        + hints.values.get(c).get(0) + ", but all rows without another split are packed as train; give"
                        + " --split-by " + ShellText.word(name) + ", or --split train=1 if this is right");
            }
        }
        return lines;
    }

    /** Warns if the index of a pandas data frame would become a field. */
    private static List<String> indexes(RowIngestOptions options, RowInspection source) {
        RowIngestOptions.Columns wanted = options.columns();
        if (!wanted.key().isEmpty() || !wanted.taken().isEmpty()) {
            return List.of();
        }
        return source.columns().keySet().stream()
                .filter(name -> PANDAS_INDEX.matcher(name).matches())
                .filter(name ->
                        !wanted.without().contains(name) && !wanted.renamed().containsKey(name))
                .map(name -> "warning: the column " + name + " is the index of a pandas data frame; take it as the key"
                        + " with --key " + name + ", leave it out with --without " + name + ", or name the field with "
                        + ShellText.pair("--rename", name, "NAME"))
                .toList();
    }

    /** Warns if the members of an archive look like a directory of files and not like samples of several members. */
    private List<String> archives() throws IOException {
        if (!(source.format() instanceof WebDatasetFormat)) {
            return List.of();
        }
        RowRun.Piece first = source.pieces().get(0);
        Set<String> directories = new TreeSet<>();
        try (SourceReader reader = SourceReader.open(first.file());
                RowFile file = source.reading().open(first.file(), reader)) {
            List<RowColumn> columns = file.schema().columns();
            int[] all = IntStream.range(0, columns.size()).toArray();
            PresenceSink present = new PresenceSink();
            TextSink key = new TextSink("a hint");
            try (RowReader rows = file.read(first.part(), all)) {
                for (int row = 0; row < SAMPLED_ROWS && rows.next(); row++) {
                    int members = 0;
                    for (int c : all) {
                        if (columns.get(c).role() == RowColumn.Role.KEY) {
                            rows.get(c, key);
                        } else if (present.of(rows, c)) {
                            members++;
                        }
                    }
                    int slash = key.text().lastIndexOf('/');
                    if (members != 1 || slash < 0) {
                        return List.of();
                    }
                    directories.add(key.text().substring(0, slash));
                }
            }
        } catch (BadValueException | DamagedFileException | UnsupportedFileException e) {
            // The tasks report it, with the place.
            return List.of();
        }
        return directories.size() < 2
                ? List.of()
                : List.of("warning: each of the first samples of the archive "
                        + first.file().location()
                        + " is one file in a directory, such as "
                        + directories.iterator().next()
                        + "; if the directories are classes, unpack the archive and ingest the directory with"
                        + " --label-from parent-dir");
    }

    private void read(RowRun.Piece first) throws IOException {
        try (SourceReader reader = SourceReader.open(first.file());
                RowFile file = source.reading().open(first.file(), reader)) {
            List<RowColumn> columns = file.schema().columns();
            int[] selected = IntStream.range(0, columns.size())
                    .filter(c -> columns.get(c).type() == ScalarType.UTF8
                            || columns.get(c).type() == ScalarType.CATEGORICAL)
                    .filter(c -> options.columns().isField(columns.get(c).name()))
                    .toArray();
            for (int c : selected) {
                texts.add(columns.get(c));
                values.add(new ArrayList<>());
            }
            if (selected.length == 0) {
                return;
            }
            try (RowReader rows = file.read(first.part(), selected)) {
                for (int row = 0; row < SAMPLED_ROWS && rows.next(); row++) {
                    for (int c = 0; c < selected.length; c++) {
                        text(rows, c).ifPresent(values.get(c)::add);
                    }
                }
            }
        }
    }

    private static Optional<String> text(RowReader rows, int column) throws IOException {
        TextSink text = new TextSink("a hint");
        try {
            rows.get(column, text);
            return Optional.of(text.text());
        } catch (BadValueException e) {
            // A missing value says nothing, and the tasks report a wrong one.
            return Optional.empty();
        }
    }

    private boolean areFiles(List<String> paths) throws IOException {
        List<String> first = paths.stream().distinct().limit(PATHS).toList();
        if (first.isEmpty() || !first.stream().allMatch(TableHints::looksLikeFile)) {
            return false;
        }
        String location = source.files().get(0).location();
        String root = options.columns().contents().root();
        String directory = root.isEmpty() ? location.substring(0, location.lastIndexOf('/')) : root;
        try (ContentTree tree = new ContentTree(directory.isEmpty() ? "/" : directory, 0)) {
            for (String path : first) {
                if (tree.length(path).isEmpty()) {
                    return false;
                }
            }
            return true;
        }
    }

    private static boolean looksLikeFile(String path) {
        int dot = path.lastIndexOf('.');
        return dot > path.lastIndexOf('/') + 1 && dot < path.length() - 1 && path.length() < 1024;
    }

    private static boolean areSplits(List<String> names) {
        return !names.isEmpty() && names.stream().allMatch(SplitNames::isKnown);
    }
}
