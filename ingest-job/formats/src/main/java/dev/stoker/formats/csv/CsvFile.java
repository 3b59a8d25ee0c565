package dev.stoker.formats.csv;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowPart;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.values.Numbers;
import dev.stoker.formats.values.TextValue;
import dev.stoker.formats.values.Utf8;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.text.ShellText;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.apache.commons.csv.CSVRecord;
import org.jspecify.annotations.Nullable;

/** A CSV file. It is one part: a line break may be inside of quotes, which only the start of the file tells. */
final class CsvFile implements RowFile {
    private final CsvSource source;
    private final CsvColumns columns;

    CsvFile(CsvSource source, CsvColumns columns) {
        this.source = source;
        this.columns = columns;
    }

    static DamagedFileException wrongLength(String file, long line, int values, int columns) {
        return new DamagedFileException(file + ": the record that ends in line " + line + " has " + values
                + " values, but there are " + columns + " columns; correct it, or leave such rows out with --on-error"
                + " skip");
    }

    @Override
    public RowSchema schema() {
        return columns.schema();
    }

    @Override
    public List<RowPart> parts() throws IOException {
        return List.of(new RowPart(0, 0, source.file().length(), -1, 0));
    }

    @Override
    public RowReader read(RowPart part, int[] selected) throws IOException {
        return new Reader(source.open(), selected.clone());
    }

    /** Does nothing: the caller closes the file. */
    @Override
    public void close() {}

    /** Not thread-safe. */
    private final class Reader implements RowReader {
        private final CsvRows rows;
        private final int[] selected;
        private boolean header = source.hints().names().isEmpty();
        private final Set<String> declared = source.hints().declared();
        private long number = -1;
        private @Nullable CSVRecord record;
        private boolean canSkip;

        private Reader(CsvRows rows, int[] selected) {
            this.rows = rows;
            this.selected = selected;
        }

        @Override
        public boolean next() throws IOException {
            canSkip = false;
            if (header) {
                header = false;
                rows.next();
            }
            number++;
            record = rows.next();
            if (record == null) {
                return false;
            }
            if (record.size() != columns.width()) {
                canSkip = true;
                throw wrongLength(source.file().name(), rows.line(), record.size(), columns.width());
            }
            return true;
        }

        @Override
        public long position() {
            return number;
        }

        @Override
        public void get(int column, ValueSink sink) throws BadValueException {
            int index = columns.indexes()[selected[column]];
            String value = index < 0
                    ? null
                    : Objects.requireNonNull(record, "there is no row; call next first")
                            .get(index);
            RowColumn described = columns.schema().columns().get(selected[column]);
            if (value == null) {
                sink.setNull();
            } else if (declared.contains(described.name())) {
                TextValue.put(value, described.type(), sink);
            } else {
                inferred(value, described, sink);
            }
        }

        private static void inferred(String value, RowColumn column, ValueSink sink) throws BadValueException {
            ScalarType type = (ScalarType) column.type();
            if (type == ScalarType.UTF8) {
                sink.setBytes(Utf8.encode(value));
            } else if (type == ScalarType.BOOL && CsvInference.isBool(value)) {
                sink.setLong(value.charAt(0) == 't' || value.charAt(0) == 'T' ? 1 : 0);
            } else if (type == ScalarType.INT64 && Numbers.isInt64(value)) {
                sink.setLong(Long.parseLong(value));
            } else if (type == ScalarType.FLOAT64 && Numbers.isInt64(value)) {
                sink.setDouble(Numbers.exact(Long.parseLong(value), type));
            } else if (type == ScalarType.FLOAT64 && (CsvInference.isFloat(value) || Numbers.isNotFinite(value))) {
                sink.setDouble(Numbers.toDouble(value, type));
            } else {
                boolean isFraction = type == ScalarType.INT64 && CsvInference.isFloat(value);
                throw new BadValueException(
                        Utf8.shown(value) + " is not " + type + " as in the first rows",
                        "use " + ShellText.pair("--type", column.name(), isFraction ? "float64" : "utf8"));
            }
        }

        @Override
        public boolean skip() {
            return canSkip;
        }

        @Override
        public void close() throws IOException {
            rows.close();
        }
    }
}
