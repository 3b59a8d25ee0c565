package dev.stoker.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.schemas.json.Json;
import dev.stoker.server.TestDataset;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A dataset {@code photos} with 9 samples in two chunks, and commands whose output is kept until the next one. */
abstract class DatasetVerbs {

    @TempDir
    Path directory;

    final StringWriter out = new StringWriter();
    final StringWriter err = new StringWriter();
    TestDataset dataset;

    @BeforeEach
    void createDataset() throws IOException {
        dataset = TestDataset.create(directory.resolve("photos"), 3, 100, 5, 4);
    }

    int stoker(String... args) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        return Stoker.run(List.of(args), new PrintWriter(out, true), new PrintWriter(err, true));
    }

    String path() {
        return dataset.path().toString();
    }

    JsonNode json() throws IOException {
        return Json.PLAIN.readTree(out.toString());
    }

    String key(int chunk, int row) {
        return dataset.samples(chunk).get(row).key();
    }
}
