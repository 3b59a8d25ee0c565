package dev.stoker.formats.csv;

import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.formats.input.ByteInput;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Iterator;
import java.util.Objects;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;
import org.apache.commons.csv.QuoteMode;
import org.jspecify.annotations.Nullable;

/**
 * Moves over the records of a file. A value is null if nothing is between its delimiters, not even quotes. Not
 * thread-safe.
 */
final class CsvRows implements Closeable {
    private final String name;
    private final StrictReader reader;
    private final CSVParser parser;
    private final Iterator<CSVRecord> records;

    CsvRows(ByteInput in, char delimiter, ReadLimits limits) throws IOException {
        this.name = in.name();
        this.reader = new StrictReader(in, Math.min(limits.valueBytes(), limits.memoryBytes() / 4));
        try {
            this.parser = CSVFormat.RFC4180
                    .builder()
                    .setDelimiter(delimiter)
                    .setIgnoreEmptyLines(true)
                    // Together they make a difference between "" and nothing.
                    .setNullString("")
                    .setQuoteMode(QuoteMode.ALL_NON_NULL)
                    .get()
                    .parse(reader);
        } catch (IOException e) {
            throw known(e);
        }
        this.records = parser.iterator();
    }

    /** Returns the next record, or null at the end. */
    @Nullable
    CSVRecord next() throws IOException {
        reader.mark();
        try {
            return records.hasNext() ? records.next() : null;
        } catch (UncheckedIOException e) {
            throw known(Objects.requireNonNull(e.getCause(), "an UncheckedIOException has a cause"));
        }
    }

    long charactersRead() {
        return reader.delivered();
    }

    /** Returns the line in which the last record ends. */
    long line() {
        return parser.getCurrentLineNumber();
    }

    private IOException known(IOException e) {
        if (e instanceof DamagedFileException || e instanceof UnsupportedFileException) {
            return e;
        }
        Throwable cause = e.getCause();
        while (cause != null) {
            if (cause instanceof DamagedFileException || cause instanceof UnsupportedFileException) {
                return (IOException) cause;
            }
            cause = cause.getCause();
        }
        String kind = e.getClass().getName();
        // The parser's own errors. Errors of a store keep their type.
        if (!kind.startsWith("org.apache.commons.csv")
                && e.getClass() != IOException.class
                && e.getClass() != EOFException.class) {
            return e;
        }
        return new DamagedFileException(
                name + ": a CSV record is damaged: " + e.getMessage()
                        + "; a value with quotes must be in quotes, and its own quotes doubled",
                e);
    }

    @Override
    public void close() throws IOException {
        parser.close();
    }
}
