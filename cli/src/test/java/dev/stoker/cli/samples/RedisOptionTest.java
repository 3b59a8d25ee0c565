package dev.stoker.cli.samples;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.cli.Stoker;
import dev.stoker.cli.TestRedis;
import dev.stoker.metadata.Contents;
import dev.stoker.schemas.json.Json;
import dev.stoker.server.TestDataset;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Verbs with a real Redis server. */
class RedisOptionTest {

    @TempDir
    private Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private TestRedis server;
    private String url;
    private String path;
    private List<String> keys;

    @BeforeEach
    void start() throws IOException {
        TestDataset dataset = TestDataset.create(directory.resolve("photos"), 3, 100, 5, 4);
        path = dataset.path().toString();
        keys = new ArrayList<>(Contents.of(path).keySet());
        server = TestRedis.start();
        url = server.url();
    }

    @AfterEach
    void stop() throws IOException {
        server.close();
    }

    private int stoker(String... args) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        return Stoker.run(List.of(args), new PrintWriter(out, true), new PrintWriter(err, true));
    }

    private JsonNode json() throws IOException {
        return Json.PLAIN.readTree(out.toString());
    }

    private String stats(String... options) {
        List<String> args = new ArrayList<>(List.of("stat", path, "no such key"));
        args.addAll(keys);
        args.addAll(List.of(options));
        assertThat(stoker(args.toArray(new String[0]))).isZero();
        return out.toString();
    }

    @Test
    void answersAreTheSameWithAServerAndWithADeadOne() throws IOException {
        String expected = stats();
        assertThat(stoker("index", path, "--redis", url)).isZero();
        assertThat(out.toString()).contains("loaded into Redis: 9 places of 2 chunks");
        assertThat(stats("--redis", url)).isEqualTo(expected);
        assertThat(stoker("compact", path)).isZero();
        String compacted = stats();
        assertThat(stats("--redis", url)).as("all places are stale").isEqualTo(compacted);
        assertThat(stoker("index", path, "--redis", url, "--json")).isZero();
        assertThat(json().path("loaded").asInt()).isEqualTo(9);
        assertThat(stats("--redis", url)).isEqualTo(compacted);

        Path files = directory.resolve("files");
        assertThat(stoker("get", path, keys.get(3), "--to", files.toString(), "--redis", url))
                .isZero();
        try (Stream<Path> written = Files.walk(files)) {
            assertThat(written.filter(Files::isRegularFile)).hasSize(1);
        }
        server.close();
        assertThat(stats("--redis", url)).isEqualTo(compacted);
        assertThat(stoker("index", path, "--redis", url)).isEqualTo(1);
        assertThat(err.toString()).contains(url + " stores nothing: ");
    }

    @Test
    void mistakesNameTheOption() {
        assertThat(stoker("stat", path, keys.get(0), "--redis", "http://x")).isEqualTo(2);
        assertThat(err.toString()).contains("option --redis: the URL of a Redis server is redis://host:port");
    }
}
