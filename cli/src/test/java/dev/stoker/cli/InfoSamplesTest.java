package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.json.Json;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InfoSamplesTest {

    private static final int CLASSES = 25;

    @TempDir
    private Path directory;

    private final StringWriter out = new StringWriter();

    @BeforeEach
    void create() throws IOException {
        Map<String, byte[]> images = new LinkedHashMap<>();
        for (int c = 0; c < CLASSES; c++) {
            for (int i = 0; i <= c; i++) {
                images.put("c" + c + "/" + i, new byte[1000]);
            }
        }
        try (ObjectStore store = new LocalObjectStore(directory)) {
            Dataset dataset = Dataset.create(store, SampleDatasets.info());
            ChunkSummary chunk = SampleDatasets.write(store, SampleDatasets.id(0), "ingest-0", "train", images);
            List<String> names =
                    IntStream.range(0, CLASSES).mapToObj(c -> "c" + c).toList();
            SampleDatasets.committer(dataset)
                    .commit(VersionRequest.append("ingest-0", List.of(chunk), Map.of("label", names), Map.of()));
        }
    }

    private void info(String... args) {
        List<String> all = new ArrayList<>(List.of("info", directory.toString(), "--samples"));
        all.addAll(List.of(args));
        assertThat(Stoker.run(all, new PrintWriter(out, true), new PrintWriter(new StringWriter(), true)))
                .isZero();
    }

    @Test
    void printsTheLargestClassesAndCountsTheOthers() {
        info();

        List<String> lines = out.toString().lines().toList();
        assertThat(lines).anyMatch(line -> line.startsWith("read the heads of 1 chunk, "));
        int classes = lines.indexOf("label  SAMPLES");
        assertThat(lines.get(classes + 1)).isEqualTo("c24    25");
        assertThat(lines.get(classes + 20)).isEqualTo("c5     6");
        assertThat(lines.get(classes + 21)).isEqualTo("and 5 more with 15 samples (all of them: --json)");
        assertThat(out.toString()).contains("325", "#".repeat(40)).contains("split train: a batch of 64 has ");
    }

    @Test
    void printsAllAsJson() throws IOException {
        info("--json");

        JsonNode samples = Json.PLAIN.readTree(out.toString());
        assertThat(samples.at("/heads_read/chunks").asInt()).isEqualTo(1);
        assertThat(samples.at("/class_samples/label").size()).isEqualTo(CLASSES);
        assertThat(samples.at("/class_samples/label/c3").asInt()).isEqualTo(4);
        assertThat(samples.at("/sizes/0/from").asInt()).isEqualTo(512);
        assertThat(samples.at("/sizes/0/samples").asInt()).isEqualTo(325);
        assertThat(samples.at("/label_mix/train/0/batches").asInt()).isEqualTo(5);
        // One chunk is shuffled as a whole.
        assertThat(samples.at("/label_mix/train/0/batch_bits").asDouble()).isBetween(3.5, 4.6);
    }
}
