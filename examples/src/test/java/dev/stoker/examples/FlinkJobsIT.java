package dev.stoker.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.metadata.Dataset;
import dev.stoker.storage.ObjectStore;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The jobs with the DataStream API, one after the other. */
@Tag("full-programs")
class FlinkJobsIT {

    @TempDir
    Path directory;

    @Test
    void packsLinesAndCountsTheirLabels() throws Exception {
        Path file = directory.resolve("lines.txt");
        String dataset = directory.resolve("dataset").toString();
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            lines.add((i % 3 == 0 ? "long" : "short") + "\ttext " + i);
        }
        lines.add("a line without a label");
        Files.write(file, lines);
        PackLines.main(new String[] {file.toUri().toString(), dataset});
        PackLines.main(new String[] {file.toUri().toString(), dataset});
        try (ObjectStore store = DatasetStore.BY_LOCATION.open(dataset)) {
            assertThat(Dataset.open(store).latestVersion()).isEqualTo(2);
            assertThat(Dataset.open(store).snapshot().splits()).containsExactlyInAnyOrder("train", "val");
        }
        PrintStream before = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setOut(new PrintStream(printed, true, UTF_8));
        try {
            CountLabels.main(new String[] {dataset});
        } finally {
            System.setOut(before);
        }
        assertThat(printed.toString(UTF_8).lines()).contains("long 200", "short 400");
    }
}
