package dev.stoker.formats.csv;

import dev.stoker.formats.ColumnHints;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.input.ByteInput;
import dev.stoker.formats.input.Compression;
import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;

/** What is needed to read a file from its start. */
record CsvSource(RangeReader file, ReadLimits limits, Compression compression, char delimiter, ColumnHints hints) {
    CsvRows open() throws IOException {
        ByteInput in = ByteInput.open(file, compression, limits);
        try {
            return new CsvRows(in, delimiter, limits);
        } catch (IOException | RuntimeException e) {
            in.close();
            throw e;
        }
    }
}
