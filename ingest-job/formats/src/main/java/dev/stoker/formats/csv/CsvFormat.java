package dev.stoker.formats.csv;

import dev.stoker.formats.ColumnHints;
import dev.stoker.formats.ColumnHints.Others;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.FileHead;
import dev.stoker.formats.HintedFormat;
import dev.stoker.formats.InferenceLimits;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.RowSchema.RefusedColumn;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.formats.input.ByteInput;
import dev.stoker.formats.input.Compression;
import dev.stoker.formats.values.Numbers;
import dev.stoker.formats.values.TextValue;
import dev.stoker.formats.values.Utf8;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.io.RangeReader;
import dev.stoker.schemas.text.ShellText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.apache.commons.csv.CSVRecord;

/** CSV: the first record has the names of the columns. */
public final class CsvFormat implements HintedFormat {
    private static final int HEAD = 1 << 16;
    private static final List<String> ENDINGS = List.of(".csv", ".tsv", ".psv");

    @Override
    public String name() {
        return "csv";
    }

    /** Any text can be CSV, so the name decides. */
    @Override
    public boolean recognises(FileHead file) {
        String name = file.name().toLowerCase(Locale.ROOT);
        if (ENDINGS.stream().noneMatch(name::endsWith)) {
            return false;
        }
        for (int i = 0; i < file.first().limit(); i++) {
            if (file.first().get(i) == 0) {
                return file.begins("\u00ff\u00fe") || file.begins("\u00fe\u00ff");
            }
        }
        return true;
    }

    @Override
    public RowFile open(RangeReader file, ReadLimits limits, ColumnHints hints) throws IOException {
        hints.types().forEach((name, type) -> {
            if (!TextValue.canBeText(type) || type == ScalarType.BINARY) {
                throw new IllegalArgumentException(
                        "column " + name + " cannot have the type " + type + "; CSV has text with one value");
            }
        });
        Compression compression = ByteInput.compressionOf(file);
        CsvSource source = new CsvSource(file, limits, compression, delimiter(file, limits, compression), hints);
        try (CsvRows rows = source.open()) {
            List<String> names = names(rows, file, hints);
            return new CsvFile(source, columns(rows, names, file, hints));
        }
    }

    private static char delimiter(RangeReader file, ReadLimits limits, Compression compression) throws IOException {
        char[] head = new char[HEAD];
        int length = 0;
        try (StrictReader reader = new StrictReader(ByteInput.open(file, compression, limits), HEAD)) {
            int read = 0;
            while (length < HEAD - 1 && read >= 0) {
                length += read;
                reader.mark();
                read = reader.read(head, length, HEAD - length);
            }
            length += Math.max(0, read);
        }
        return Delimiter.find(new String(head, 0, length), length < HEAD - 1);
    }

    private static List<String> names(CsvRows rows, RangeReader file, ColumnHints hints) throws IOException {
        if (!hints.names().isEmpty()) {
            return hints.names();
        }
        List<String> names = new ArrayList<>();
        CSVRecord header = rows.next();
        if (header != null && isDelimiterLine(header)) {
            throw new UnsupportedFileException(file.name()
                    + " begins with a line for Excel that names the delimiter, not the columns; delete this line");
        }
        int numbers = 0;
        boolean numbered = true;
        for (int i = 0; header != null && i < header.size(); i++) {
            String name = header.get(i);
            boolean empty = name == null || name.isBlank();
            names.add(empty ? "column" + (i + 1) : name);
            numbers += !empty && Numbers.isFloat(name) ? 1 : 0;
            numbered &= !empty && name.equals(Integer.toString(i));
        }
        if (!names.isEmpty() && numbers == names.size() && !numbered) {
            throw new UnsupportedFileException(
                    file.name() + " has no header: all values of its first record are numbers," + " such as "
                            + Utf8.shown(names.get(0)) + "; name its columns, or put a record with their names first");
        }
        return names;
    }

    /** Returns whether a record is a line such as {@code sep=;}, which its own delimiter can divide. */
    private static boolean isDelimiterLine(CSVRecord record) {
        String first = record.get(0);
        boolean isAlone = record.size() == 1 || (record.size() == 2 && record.get(1) == null);
        return first != null && isAlone && first.matches("(?i)sep=.?");
    }

    private static CsvColumns columns(CsvRows rows, List<String> names, RangeReader file, ColumnHints hints)
            throws IOException {
        CsvInference[] seen = new CsvInference[names.size()];
        Arrays.setAll(seen, i -> new CsvInference());
        if (hints.others().areInferred()) {
            sample(rows, seen, file);
        }
        List<RowColumn> columns = new ArrayList<>();
        List<RefusedColumn> refused = new ArrayList<>();
        List<Integer> indexes = new ArrayList<>();
        Set<String> missing = new LinkedHashSet<>(hints.types().keySet());
        for (int i = 0; i < seen.length; i++) {
            String name = names.get(i);
            FieldType type = hints.types().get(name);
            missing.remove(name);
            if (type == null && hints.others() == Others.REFUSE) {
                throw new UnsupportedFileException(file.name() + " has the column " + Utf8.shown(name)
                        + ", which the first file does not have; add it with "
                        + ShellText.pair("--type", name, "…") + ", or leave it out with --without "
                        + ShellText.word(name));
            }
            if (type == null && hints.others() == Others.IGNORE) {
                continue;
            }
            if (type == null && seen[i].isEmpty()) {
                refused.add(new RefusedColumn(
                        name,
                        "text",
                        "it has no value in the first rows; give its type with "
                                + ShellText.pair("--type", name, "…")));
                continue;
            }
            columns.add(new RowColumn(name, type == null ? seen[i].type() : type, true, "text", RowColumn.Role.NONE));
            indexes.add(i);
        }
        for (String name : missing) {
            FieldType type = Objects.requireNonNull(hints.types().get(name), "names come from the types");
            columns.add(
                    hints.others().areInferred()
                            ? RowColumn.absent(name, type)
                            : new RowColumn(name, type, true, "text", RowColumn.Role.NONE));
            indexes.add(-1);
        }
        return new CsvColumns(
                new RowSchema(columns, refused),
                indexes.stream().mapToInt(i -> i).toArray(),
                names.size());
    }

    /** @throws DamagedFileException if no row has as many values as there are columns */
    private static void sample(CsvRows rows, CsvInference[] seen, RangeReader file) throws IOException {
        DamagedFileException first = null;
        int good = 0;
        for (int i = 0; i < InferenceLimits.TEXT.rows() && rows.charactersRead() < InferenceLimits.TEXT.bytes(); i++) {
            CSVRecord record = rows.next();
            if (record == null) {
                break;
            }
            // The reader refuses records with more or fewer values.
            if (record.size() == seen.length) {
                good++;
            } else if (first == null) {
                first = CsvFile.wrongLength(file.name(), rows.line(), record.size(), seen.length);
            }
            for (int c = 0; c < seen.length && record.size() == seen.length; c++) {
                seen[c].see(record.get(c));
            }
        }
        if (good == 0 && first != null) {
            throw first;
        }
    }
}
