package dev.stoker.ingest.rows;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.ingest.spec.FileKind;
import dev.stoker.schemas.arrow.ScalarType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Warns if columns name files or splits, but the ingest takes them as text. Reads the first rows. For one use. */
final class TableHints {
    private static final int SAMPLED_ROWS = 64;

    /** Values of a column that must be the paths of files. */
    private static final int PATHS = 3;

    private final RowIngestOptions options;
    private final RowInspection source;
    private final List<RowColumn> texts = new ArrayList<>();
    private final List<List<String>> values = new ArrayList<>();

    private TableHints(RowIngestOptions options, RowInspection source) {
        this.options = options;
        this.source = source;
    }

    static List<String> of(RowIngestOptions options, RowInspection source) throws IOException {
        boolean looksForFiles = options.columns().contents().columns().isEmpty();
        boolean looksForSplits =
                options.splitRule().isEmpty() && options.columns().split().isEmpty();
        if (source.pieces().isEmpty() || (!looksForFiles && !looksForSplits)) {
            return List.of();
        }
        TableHints hints = new TableHints(options, source);
        try {
            hints.read(source.pieces().get(0));
        } catch (DamagedFileException | UnsupportedFileException e) {
            // The tasks report it, with the place.
            return List.of();
        }
        List<String> lines = new ArrayList<>();
        for (int c = 0; c < hints.texts.size(); c++) {
            String name = hints.texts.get(c).name();
            if (looksForFiles && hints.areFiles(hints.values.get(c))) {
                lines.add("warning: the column " + name + " names files, such as "
                        + hints.values.get(c).get(0)
                        + ", but only the names are packed; to pack the files, give --read '"
                        + name + "=" + FileKind.of(hints.values.get(c).get(0)).field() + "'"
                        + (hints.source
                                        .columns()
                                        .containsKey(
                                                FileKind.of(hints.values.get(c).get(0))
                                                        .field())
                                ? " with another name for the field"
                                : ""));
            }
            if (looksForSplits && areSplits(hints.values.get(c))) {
                lines.add("warning: the column " + name + " has names of splits, such as "
                        + hints.values.get(c).get(0) + ", but all rows without another split are packed as train; give"
                        + " --split-by '" + name + "', or --split train=1 if this is right");
            }
        }
        return lines;
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
