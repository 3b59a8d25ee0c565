package dev.stoker.schemas.flips;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.stoker.schemas.attack.Format;
import dev.stoker.schemas.attack.Golden;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.dataset.EpochChoice;
import dev.stoker.schemas.dataset.EpochChoiceBlock;
import dev.stoker.schemas.dataset.Erasure;
import dev.stoker.schemas.dataset.Lease;
import dev.stoker.schemas.dataset.Tag;
import dev.stoker.schemas.dataset.VersionUse;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.index.IndexedRow;
import dev.stoker.schemas.index.RunFixtures;
import dev.stoker.schemas.index.SampleRun;
import dev.stoker.schemas.kafka.RecordHeader;
import dev.stoker.schemas.ledger.LedgerReader;
import dev.stoker.schemas.ledger.LedgerRecord;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.table.ChunkTable;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;

/** The files of a dataset and of a ledger, and records of topics. */
final class FileFormats {
    private static final String FILE = "file";

    private FileFormats() {}

    static List<Format> all() throws IOException {
        List<Format> formats = new ArrayList<>();
        formats.add(golden(
                "dataset-1.json", b -> content(DatasetInfo.decode(b, FILE).encode())));
        for (String name : List.of("log-entry-1", "log-entry-expire-1", "log-entry-fields-1")) {
            formats.add(golden(name + ".avro", bytes -> LogEntry.decode(bytes, FILE)));
        }
        for (String name : List.of("chunk-table-1", "chunk-table-expired-1", "chunk-table-fields-1")) {
            formats.add(golden(
                    name + ".arrow", b -> content(ChunkTable.decode(b, FILE).encode())));
        }
        formats.add(golden("lease-1.json", bytes -> Lease.decode(bytes, FILE)));
        formats.add(golden("tag-1.json", bytes -> Tag.decode(bytes, FILE)));
        formats.add(golden("version-use-1.json", bytes -> VersionUse.decode(bytes, FILE)));
        formats.add(
                golden("erasure-1.json", b -> content(Erasure.decode(b, FILE).encode())));
        formats.add(golden("epoch-choice-1.json", bytes -> EpochChoice.decode(bytes, FILE)));
        formats.add(golden(
                "epoch-choice-block-1.json",
                b -> content(EpochChoiceBlock.decode(b, FILE).encode())));
        formats.add(golden("ledger-1.avro", FileFormats::ledger));
        formats.add(golden("ledger-merged-1.avro", FileFormats::ledger));
        runs(formats);
        for (JsonNode record : new JsonMapper().readTree(vectors("kafka.json")).get("records")) {
            formats.add(new Format("record: " + record.get("name").textValue(), joined(record), FileFormats::record));
        }
        return formats;
    }

    private static Format golden(String name, Format.Reader reader) throws IOException {
        return new Format(name, Golden.read(name), reader);
    }

    private static byte[] vectors(String name) throws IOException {
        try (var in = FileFormats.class.getResourceAsStream("/vectors/" + name)) {
            return in.readAllBytes();
        }
    }

    private static String content(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }

    private static List<LedgerRecord> ledger(byte[] file) throws IOException {
        LedgerReader reader = new LedgerReader(new ByteArrayInputStream(file), FILE);
        List<LedgerRecord> records = new ArrayList<>();
        for (Optional<LedgerRecord> next = reader.next(); next.isPresent(); next = reader.next()) {
            records.add(next.get());
        }
        return records;
    }

    /** The golden run read as a whole, and a run of several record batches in which keys are looked up. */
    private static void runs(List<Format> formats) throws IOException {
        formats.add(golden("index-run-1.arrow", file -> {
            SampleRun run = RunFixtures.open(file);
            run.require(RunFixtures.IDENTITY);
            run.verifyAll();
            return rows(run, run.rows());
        }));
        Map<String, RunFixtures.Row> rows = new TreeMap<>();
        Random random = new Random(8);
        for (int i = 0; i < 20_000; i++) {
            String key = "k/" + random.nextInt(1 << 20);
            rows.put(key, RunFixtures.Row.of(key, i % 3, i, random.nextInt(1 << 20), random.nextInt()));
        }
        byte[] file = RunFixtures.run(List.copyOf(rows.values()));
        List<byte[]> wanted = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            wanted.add(("k/" + random.nextInt(1 << 20)).getBytes(StandardCharsets.UTF_8));
            wanted.add(
                    List.copyOf(rows.values()).get(random.nextInt(rows.size())).key());
        }
        formats.add(new Format("index run of 20,000 rows, 80 lookups", file, "parts that no lookup reads", damaged -> {
            SampleRun run = RunFixtures.open(damaged);
            run.require(RunFixtures.IDENTITY);
            List<Object> found = new ArrayList<>();
            for (byte[] key : wanted) {
                long row = run.find(key);
                found.add(row < 0 ? "missing" : run.row(row));
                found.add(run.ceiling(key));
            }
            return found;
        }));
    }

    private static List<Object> rows(SampleRun run, long count) throws IOException {
        List<Object> rows = new ArrayList<>();
        for (long row = 0; row < count; row++) {
            IndexedRow place = run.row(row);
            rows.add(content(run.key(row)));
            rows.add(place);
            rows.add(run.find(run.key(row)));
        }
        return rows;
    }

    /** The headers and the value of a record as a broker would keep them: names and values after their lengths. */
    private static byte[] joined(JsonNode record) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        record.get("headers").properties().forEach(header -> {
            write(out, header.getKey().getBytes(StandardCharsets.US_ASCII));
            write(out, header.getValue().textValue().getBytes(StandardCharsets.US_ASCII));
        });
        write(out, new byte[0]);
        out.writeBytes(HexFormat.of().parseHex(record.get("value").textValue()));
        return out.toByteArray();
    }

    private static void write(ByteArrayOutputStream out, byte[] text) {
        out.write(text.length);
        out.writeBytes(text);
    }

    /** Reads what {@link #joined} has written. */
    private static List<Object> record(byte[] bytes) throws IOException {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        Map<String, byte[]> headers = new LinkedHashMap<>();
        for (byte[] name = text(in); name.length > 0; name = text(in)) {
            headers.put(new String(name, StandardCharsets.UTF_8), text(in));
        }
        byte[] value = new byte[in.remaining()];
        in.get(value);
        return List.of(RecordHeader.read(headers, value, FILE), content(value));
    }

    private static byte[] text(ByteBuffer in) throws CorruptDataException {
        int length = in.hasRemaining() ? in.get() & 0xFF : Integer.MAX_VALUE;
        if (length > in.remaining()) {
            throw new CorruptDataException("a header is cut off");
        }
        byte[] text = new byte[length];
        in.get(text);
        return text;
    }
}
