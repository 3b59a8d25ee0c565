package dev.stoker.cli.browse;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A server of {@code stoker browse} with a dataset of 204 samples in two splits. Four samples have hostile content. */
abstract class BrowsedDataset {

    static final byte[] PNG_HEAD = {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    static final String SCRIPT = "<script>alert(1)</script>";

    @TempDir
    Path directory;

    final HttpClient client = HttpClient.newHttpClient();
    ObjectStore store;
    Dataset dataset;
    BrowseServer server;

    @BeforeEach
    void open() throws IOException {
        store = new LocalObjectStore(directory);
        dataset = Dataset.create(store, SampleDatasets.info());
        Map<String, byte[]> hostile = new LinkedHashMap<>();
        hostile.put("html/" + SCRIPT, bytes("<!doctype html><html>" + SCRIPT));
        hostile.put("svg/1", bytes("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'>" + SCRIPT + "</svg>"));
        hostile.put("polyglot/gif", bytes("GIF89a/*" + SCRIPT + "*/=1;alert(1)"));
        hostile.put("../../etc/passwd", PNG_HEAD);
        commit(0, "train", List.of(hostile));
        commit(1, "train", chunks(1, 15));
        commit(16, "val", chunks(16, 20));
        server = new BrowseServer(dataset, dataset.snapshot(), 0);
    }

    @AfterEach
    void close() throws IOException {
        server.close();
        store.close();
    }

    /** Ten samples for each chunk. Every fifth chunk begins with one of another class. */
    static List<Map<String, byte[]>> chunks(int first, int last) {
        List<Map<String, byte[]>> chunks = new ArrayList<>();
        for (int chunk = first; chunk <= last; chunk++) {
            Map<String, byte[]> images = new LinkedHashMap<>();
            for (int i = 0; i < 10; i++) {
                String label = i == 0 && chunk % 5 == 0 ? "rare" : "usual";
                images.put(label + "/" + (100 * chunk + i), bytes("text " + chunk + "." + i));
            }
            chunks.add(images);
        }
        return chunks;
    }

    void commit(int number, String split, List<Map<String, byte[]>> chunks) throws IOException {
        String ingest = "ingest-" + number;
        List<ChunkSummary> written = new ArrayList<>();
        TreeSet<String> classes = new TreeSet<>();
        for (Map<String, byte[]> images : chunks) {
            UUID id = SampleDatasets.id(number + written.size());
            written.add(SampleDatasets.write(store, id, ingest, split, images));
            images.keySet().forEach(key -> classes.add(key.substring(0, key.indexOf('/'))));
        }
        SampleDatasets.committer(dataset)
                .commit(VersionRequest.append(ingest, written, Map.of("label", List.copyOf(classes)), Map.of()));
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    HttpResponse<byte[]> ask(String path, String... headers) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(server.url() + path));
        return client.send(
                headers.length == 0 ? request.build() : request.headers(headers).build(),
                HttpResponse.BodyHandlers.ofByteArray());
    }

    JsonNode json(String path) throws Exception {
        HttpResponse<byte[]> answer = ask(path);
        JsonNode node = new JsonMapper().readTree(answer.body());
        assertThat(answer.statusCode()).as(path + ": " + node).isEqualTo(200);
        assertThat(answer.headers().firstValue("Content-Type")).contains("application/json");
        return node;
    }

    static List<String> keys(JsonNode page) {
        return StreamSupport.stream(page.get("samples").spliterator(), false)
                .map(sample -> sample.get("key").asText())
                .toList();
    }

    /** Reads all pages of a list. */
    List<String> all(String parameters) throws Exception {
        List<String> keys = new ArrayList<>();
        JsonNode next = null;
        do {
            JsonNode page = json("api/samples?" + parameters + (next == null ? "" : "&from=" + next.asText()));
            keys.addAll(keys(page));
            next = page.get("next");
        } while (!next.isNull());
        return keys;
    }

    String path() {
        return URI.create(server.url()).getPath();
    }

    static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }
}
