package dev.stoker.formats.json;

import dev.stoker.formats.ColumnHints;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowPart;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.input.ByteInput;
import dev.stoker.formats.input.Compression;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.io.RangeReader;
import dev.stoker.schemas.text.ShellText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A file of JSON lines. A part has the lines that begin in its range of bytes. */
final class JsonLinesFile implements RowFile {
    private static final long PART_BYTES = 64L << 20;

    private final RangeReader file;
    private final ReadLimits limits;
    private final Compression compression;
    private final RowSchema schema;
    private final ColumnHints hints;
    private final long partBytes;

    JsonLinesFile(RangeReader file, ReadLimits limits, Compression compression, RowSchema schema, ColumnHints hints) {
        this(file, limits, compression, schema, hints, PART_BYTES);
    }

    JsonLinesFile(
            RangeReader file,
            ReadLimits limits,
            Compression compression,
            RowSchema schema,
            ColumnHints hints,
            long partBytes) {
        this.file = file;
        this.limits = limits;
        this.compression = compression;
        this.schema = schema;
        this.hints = hints;
        this.partBytes = partBytes;
    }

    @Override
    public RowSchema schema() {
        return schema;
    }

    @Override
    public List<RowPart> parts() throws IOException {
        long length = file.length();
        if (compression != Compression.NONE || length <= partBytes) {
            return List.of(new RowPart(0, 0, length, -1, 0));
        }
        List<RowPart> parts = new ArrayList<>();
        for (long offset = 0; offset < length; offset += partBytes) {
            parts.add(new RowPart(parts.size(), offset, Math.min(partBytes, length - offset), -1, 0));
        }
        return parts;
    }

    @Override
    public RowReader read(RowPart part, int[] columns) throws IOException {
        Set<String> names = new HashSet<>();
        schema.columns().forEach(column -> names.add(column.name()));
        schema.refused().forEach(column -> names.add(column.name()));
        List<Map.Entry<String, FieldType>> selected = new ArrayList<>();
        for (int column : columns) {
            RowColumn named = schema.columns().get(column);
            selected.add(Map.entry(named.name(), named.type()));
        }
        boolean compressed = compression != Compression.NONE;
        // The byte before tells whether a line begins at the first one.
        ByteInput in = compressed
                ? ByteInput.open(file, compression, limits)
                : ByteInput.openAt(file, Math.max(0, part.offset() - 1));
        try {
            JsonLine line = new JsonLine(in, limits);
            JsonRow row = new JsonRow(line.objects(), unknown(line), names, selected, hints.declared());
            return new JsonLinesReader(
                    in, line, row, part.offset(), compressed ? Long.MAX_VALUE : part.offset() + part.bytes());
        } catch (RuntimeException | Error e) {
            in.close();
            throw e;
        }
    }

    private JsonRow.Unknown unknown(JsonLine line) {
        return hints.others() == ColumnHints.Others.IGNORE
                ? JsonRow.Unknown.IGNORED
                : path -> {
                    throw line.unexpected(
                            "has the key " + path + ", which the first rows of the source do not have; add it with "
                                    + ShellText.pair("--type", path, "…") + ", or leave it out with --without "
                                    + ShellText.word(path));
                };
    }

    /** Does nothing: the caller closes the file. */
    @Override
    public void close() {}
}
