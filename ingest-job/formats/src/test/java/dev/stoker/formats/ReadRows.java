package dev.stoker.formats;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stoker.schemas.io.BufferRangeReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * What a file gives, in the form of the files of expected values.
 *
 * @param columns name, type and whether it is nullable, of each column
 * @param refused names of the columns that cannot become fields
 * @param bad row, column and message of each value that cannot be given; it is null in rows
 * @param rows the values
 */
public record ReadRows(
        List<List<Object>> columns, List<String> refused, List<List<Object>> bad, List<List<String>> rows) {

    /** Reads all columns of all parts. */
    public static ReadRows of(RowFormat format, byte[] file, ReadLimits limits) throws IOException {
        try (RowFile open = format.open(new BufferRangeReader("test-file", ByteBuffer.wrap(file)), limits)) {
            return of(open);
        }
    }

    /** Reads all columns of all parts. */
    public static ReadRows of(RowFile file) throws IOException {
        List<List<Object>> columns = new ArrayList<>();
        for (RowColumn column : file.schema().columns()) {
            columns.add(List.of(column.name(), column.type().canonical(), column.nullable()));
        }
        int[] all = IntStream.range(0, columns.size()).toArray();
        List<List<Object>> bad = new ArrayList<>();
        List<List<String>> rows = new ArrayList<>();
        for (RowPart part : file.parts()) {
            try (RowReader reader = file.read(part, all)) {
                while (reader.next()) {
                    rows.add(row(reader, file.schema().columns(), rows.size(), bad));
                }
            }
        }
        List<String> refused = file.schema().refused().stream()
                .map(RowSchema.RefusedColumn::name)
                .toList();
        return new ReadRows(columns, refused, bad, rows);
    }

    private static List<String> row(RowReader reader, List<RowColumn> columns, int number, List<List<Object>> bad)
            throws IOException {
        List<String> row = new ArrayList<>();
        for (int i = 0; i < columns.size(); i++) {
            TextSink sink = new TextSink();
            try {
                reader.get(i, sink);
            } catch (BadValueException e) {
                bad.add(List.of(number, columns.get(i).name(), e.getMessage()));
            }
            row.add(sink.text());
        }
        return row;
    }

    /** Reads the expected values beside a test file, and the file's bytes. */
    public static ReadRows expected(String resource) throws IOException {
        JsonNode json = new ObjectMapper().readTree(resource(resource));
        List<List<Object>> columns = new ArrayList<>();
        json.get("columns")
                .forEach(c -> columns.add(
                        List.of(c.get(0).asText(), c.get(1).asText(), c.get(2).asBoolean())));
        List<String> refused = new ArrayList<>();
        json.get("refused").forEach(name -> refused.add(name.asText()));
        List<List<Object>> bad = new ArrayList<>();
        json.get("bad")
                .forEach(b -> bad.add(
                        List.of(b.get(0).asInt(), b.get(1).asText(), b.get(2).asText())));
        List<List<String>> rows = new ArrayList<>();
        json.get("rows").forEach(row -> {
            List<String> values = new ArrayList<>();
            row.forEach(value -> values.add(value.isNull() ? null : value.asText()));
            rows.add(values);
        });
        return new ReadRows(columns, refused, bad, rows);
    }

    /** Returns the bytes of a file under {@code columnar} in the test resources. */
    public static byte[] resource(String name) throws IOException {
        try (InputStream in = ReadRows.class.getResourceAsStream("/columnar/" + name)) {
            if (in == null) {
                throw new IOException("no test resource " + name);
            }
            return in.readAllBytes();
        }
    }
}
