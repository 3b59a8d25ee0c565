package dev.stoker.ingest.rows;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowFormat;
import dev.stoker.formats.arrow.ArrowFormat;
import dev.stoker.formats.arrow.ArrowRowWriter;
import dev.stoker.formats.avro.AvroFormat;
import dev.stoker.formats.avro.AvroRowWriter;
import dev.stoker.formats.convert.Conversion;
import dev.stoker.formats.convert.ConvertedFile;
import dev.stoker.formats.csv.CsvFormat;
import dev.stoker.formats.json.JsonLinesFormat;
import dev.stoker.formats.parquet.ParquetFormat;
import dev.stoker.formats.parquet.write.ParquetRowWriter;
import dev.stoker.formats.partition.GivenColumn;
import dev.stoker.formats.partition.PartitionPath;
import dev.stoker.formats.write.RowFormatWriter;
import dev.stoker.ingest.pack.read.FieldValue;
import dev.stoker.ingest.rows.pack.FieldSink;
import dev.stoker.ingest.rows.source.SourceFiles;
import dev.stoker.ingest.rows.update.UpdateTable;
import dev.stoker.metadata.update.UpdatedValues;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.io.BufferRangeReader;
import dev.stoker.schemas.testing.ValueRules;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One value has one meaning on every way into a dataset: files, directories, sidecars and updates. */
class ValueRulesTest {
    @TempDir
    private Path directory;

    private interface Giver {
        void give(FieldSink sink) throws Exception;
    }

    private static @Nullable Object given(ValueRules.Case value, Giver giver) throws Exception {
        return ValueRules.stored(value, row -> {
            FieldSink sink = new FieldSink(value.fields(), "fill it");
            sink.begin(row);
            giver.give(sink.at(0));
        });
    }

    /** Returns a CSV file. The value is in quotes if it must be. */
    private static byte[] csv(ValueRules.Case value) {
        byte[] text = Objects.requireNonNull(value.text());
        String shown = new String(text, StandardCharsets.ISO_8859_1);
        boolean isQuoted = shown.isEmpty() || shown.matches("(?s).*[,\"\n].*");
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes("key,x\nk,".getBytes(StandardCharsets.UTF_8));
        out.writeBytes(
                (isQuoted ? '"' + shown.replace("\"", "\"\"") + '"' : shown).getBytes(StandardCharsets.ISO_8859_1));
        out.write('\n');
        return out.toByteArray();
    }

    private @Nullable Object updated(ValueRules.Case value, String name, byte[] file) throws Exception {
        Path table = Files.write(directory.resolve(name), file);
        DatasetInfo info = new DatasetInfo(
                UUID.randomUUID(), "d", Instant.ofEpochMilli(0), value.fields(), Map.of(), Map.of("chunk_size", 1L));
        return UpdatedValues.of(
                UpdateTable.read(
                        new UpdateTable.Request(table.toString(), Optional.empty(), "key", Set.of("x"), Map.of()),
                        info),
                "k",
                (head, row) -> ValueRules.stored(value, head, row));
    }

    private static @Nullable Object typed(ValueRules.Case value, RowFormat format, RowFormatWriter writer)
            throws Exception {
        FieldType type = value.type();
        byte[] file = SourceFiles.typed(writer, value.given().orElseThrow(), value.value());
        return given(value, sink -> {
            try (RowFile own =
                    format.open(new BufferRangeReader("test-file", ByteBuffer.wrap(file)), ReadLimits.DEFAULT)) {
                for (RowColumn column : own.schema().columns()) {
                    if (column.name().equals("x") && Conversion.of(column.type(), type) == Conversion.IMPOSSIBLE) {
                        throw new IllegalArgumentException(type + " " + ValueRules.OF_TYPE + " " + column.type());
                    }
                }
                SourceFiles.read(ConvertedFile.of(own, Map.of("x", type)), sink);
            }
        });
    }

    private ValueRules.Way way(String name) {
        return switch (name) {
            case "csv" ->
                value -> given(value, sink -> SourceFiles.hinted(new CsvFormat(), value.type(), csv(value), sink));
            case "csv_update" -> value -> updated(value, "x.csv", csv(value));
            case "directory" ->
                value -> given(value, sink -> {
                    FieldType type = value.type() == ScalarType.CATEGORICAL ? ScalarType.UTF8 : value.type();
                    StringBuilder path = new StringBuilder("x=");
                    for (byte each : Objects.requireNonNull(value.text())) {
                        path.append(String.format("%%%02x", each & 0xFF));
                    }
                    String text = PartitionPath.parse(path + "/file").get("x").orElseThrow();
                    GivenColumn.ofDirectory("x", type, text).give(sink);
                });
            case "sidecar" ->
                value -> ValueRules.stored(
                        value,
                        row -> FieldValue.set(
                                row,
                                0,
                                value.type().canonical(),
                                ByteBuffer.wrap(Objects.requireNonNull(value.text()))));
            case "jsonl" ->
                value -> given(
                        value,
                        sink -> SourceFiles.hinted(
                                new JsonLinesFormat(), value.type(), Objects.requireNonNull(value.record()), sink));
            case "jsonl_update" ->
                value -> {
                    String object = new String(Objects.requireNonNull(value.record()), StandardCharsets.ISO_8859_1);
                    String keyed = "{\"key\":\"k\"" + (object.equals("{}") ? "" : ",") + object.substring(1);
                    return updated(value, "x.jsonl", keyed.getBytes(StandardCharsets.ISO_8859_1));
                };
            case "parquet" -> value -> typed(value, new ParquetFormat(), new ParquetRowWriter());
            case "arrow" -> value -> typed(value, new ArrowFormat(), new ArrowRowWriter());
            case "avro" -> value -> typed(value, new AvroFormat(), new AvroRowWriter());
            case "parquet_update" ->
                value -> updated(
                        value,
                        "x.parquet",
                        SourceFiles.typed(new ParquetRowWriter(), value.given().orElseThrow(), value.value()));
            default -> throw new IllegalArgumentException(name);
        };
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "csv",
                "csv_update",
                "directory",
                "sidecar",
                "jsonl",
                "jsonl_update",
                "parquet",
                "parquet_update",
                "arrow",
                "avro"
            })
    void aValueIsTheSameOnEveryWay(String name) {
        List<String> disagreements = ValueRules.disagreements(name, way(name));
        assertThat(disagreements).isEmpty();
    }
}
