package dev.stoker.ingest.rows.pack;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.flink.launch.JobLauncher;
import dev.stoker.ingest.Packed;
import dev.stoker.ingest.RowIngestJob;
import dev.stoker.ingest.rows.content.TextSink;
import dev.stoker.ingest.rows.options.RowIngestOptions;
import dev.stoker.ingest.spec.IngestListener;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class HeldRowsTest {
    @TempDir
    private Path directory;

    private static byte[] value(int seed, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (seed + i);
        }
        return bytes;
    }

    private static ByteBuffer only(ByteBuffer row) throws Exception {
        List<ByteBuffer> found = new ArrayList<>();
        TextSink sink = new TextSink("a value") {
            @Override
            public void setBytes(ByteBuffer bytes) {
                found.add(bytes);
            }
        };
        new RowBytes.Reader(row).next(sink);
        return found.get(0);
    }

    @Test
    void rowsComeBackFromTheirPlaces() throws Exception {
        try (HeldRows held = HeldRows.open("places", 64 << 20)) {
            RowBytes rows = new RowBytes(held);
            Map<HeldRows.Place, byte[]> places = new HashMap<>();
            for (int row = 0; row < 40; row++) {
                byte[] value = value(row, row == 20 ? 10 << 20 : 300_000 + row);
                rows.begin();
                rows.setBytes(ByteBuffer.wrap(value));
                places.put(HeldRows.Place.of(rows.hold().orElseThrow().toBytes()), value);
            }
            assertThat(held.usedBytes()).isBetween(20L << 20, 64L << 20);
            for (Map.Entry<HeldRows.Place, byte[]> place : places.entrySet()) {
                assertThat(only(held.get(place.getKey()))).isEqualTo(ByteBuffer.wrap(place.getValue()));
            }
        }
        assertThat(HeldRows.find("places")).isEmpty();
    }

    @Test
    void rowsThatAreSmallOrFindNoMemoryAreCopied() throws Exception {
        try (HeldRows held = HeldRows.open("full", 9 << 20)) {
            RowBytes rows = new RowBytes(held);
            int kept = 0;
            for (int row = 0; row < 40; row++) {
                byte[] value = value(row, row % 2 == 0 ? 500_000 : 50);
                rows.begin();
                rows.setBytes(ByteBuffer.wrap(value));
                Optional<HeldRows.Place> place = rows.hold();
                assertThat(place).matches(found -> found.isEmpty() || value.length > 50);
                kept += place.isPresent() ? 1 : 0;
                ByteBuffer bytes = place.isPresent() ? held.get(place.get()) : ByteBuffer.wrap(rows.take());
                assertThat(only(bytes)).isEqualTo(ByteBuffer.wrap(value));
            }
            assertThat(kept).isEqualTo((8 << 20) / 500_000);
            assertThat(held.usedBytes()).isEqualTo(8 << 20);
        }
    }

    @Test
    void theOrderIsTheSameWithAnyMemory() throws Exception {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < 4000; i++) {
            lines.add("{\"id\":" + i + ",\"text\":\"" + ("t" + i).repeat(i % 5 == 0 ? 1 : 500) + "\"}");
        }
        Path source = directory.resolve("rows.jsonl");
        Files.write(source, lines);
        long bytes = Files.size(source);
        List<String> whole = ingest("whole", bytes * 4);
        assertThat(whole).hasSize(4000).contains("0 t0", "1 " + "t1".repeat(500));
        for (long limit : new long[] {0, bytes + (1 << 20)}) {
            assertThat(ingest("limit" + limit, limit))
                    .as("with %s bytes", limit)
                    .isEqualTo(whole);
        }
    }

    private List<String> ingest(String name, long limitBytes) throws Exception {
        Path target = directory.resolve(name);
        RowIngestOptions options = RowIngestOptions.parse(
                directory.resolve("rows.jsonl").toString(),
                target.toString(),
                "--parallelism",
                "2",
                "--payload",
                "text",
                "--sort-memory",
                limitBytes + " bytes");
        try (JobLauncher launcher = RowIngestJob.embedded(options)) {
            RowIngestJob.run(options, launcher, IngestListener.silent());
        }
        return Packed.read(target).samples().stream()
                .map(sample ->
                        sample.fields().get("id") + " " + new String(sample.bytes("text"), StandardCharsets.UTF_8))
                .toList();
    }
}
