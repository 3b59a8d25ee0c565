package dev.stoker.cli.browse;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.stoker.metadata.CommitRequest;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class BrowseServerTest {

    private static final byte[] PNG_HEAD = {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    private static final String SCRIPT = "<script>alert(1)</script>";

    @TempDir
    private Path directory;

    private final HttpClient client = HttpClient.newHttpClient();
    private ObjectStore store;
    private Dataset dataset;
    private BrowseServer server;

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
    private static List<Map<String, byte[]>> chunks(int first, int last) {
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

    private void commit(int number, String split, List<Map<String, byte[]>> chunks) throws IOException {
        String ingest = "ingest-" + number;
        List<ChunkSummary> written = new ArrayList<>();
        TreeSet<String> classes = new TreeSet<>();
        for (Map<String, byte[]> images : chunks) {
            UUID id = SampleDatasets.id(number + written.size());
            written.add(SampleDatasets.write(store, id, ingest, split, images));
            images.keySet().forEach(key -> classes.add(key.substring(0, key.indexOf('/'))));
        }
        SampleDatasets.committer(dataset)
                .commit(CommitRequest.append(ingest, written, Map.of("label", List.copyOf(classes)), Map.of()));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private HttpResponse<byte[]> ask(String path, String... headers) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(server.url() + path));
        return client.send(
                headers.length == 0 ? request.build() : request.headers(headers).build(),
                HttpResponse.BodyHandlers.ofByteArray());
    }

    private JsonNode json(String path) throws Exception {
        HttpResponse<byte[]> answer = ask(path);
        JsonNode node = new JsonMapper().readTree(answer.body());
        assertThat(answer.statusCode()).as(path + ": " + node).isEqualTo(200);
        assertThat(answer.headers().firstValue("Content-Type")).contains("application/json");
        return node;
    }

    private static List<String> keys(JsonNode page) {
        return StreamSupport.stream(page.get("samples").spliterator(), false)
                .map(sample -> sample.get("key").asText())
                .toList();
    }

    /** Reads all pages of a list. */
    private List<String> all(String parameters) throws Exception {
        List<String> keys = new ArrayList<>();
        JsonNode next = null;
        do {
            JsonNode page = json("api/samples?" + parameters + (next == null ? "" : "&from=" + next.asText()));
            keys.addAll(keys(page));
            next = page.get("next");
        } while (!next.isNull());
        return keys;
    }

    /** Sends a request as it is: HTTP clients change paths and hosts. */
    private String raw(String line, String host) throws IOException {
        URI url = URI.create(server.url());
        try (Socket socket = new Socket(url.getHost(), url.getPort())) {
            OutputStream out = socket.getOutputStream();
            out.write(bytes(line + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n"));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }

    private String path() {
        return URI.create(server.url()).getPath();
    }

    @Test
    void thePageListensOnLoopbackOnly() throws Exception {
        URI url = URI.create(server.url());
        assertThat(InetAddress.getByName(url.getHost()).isLoopbackAddress()).isTrue();
        String sockets =
                Files.readString(Path.of("/proc/self/net/tcp")) + Files.readString(Path.of("/proc/self/net/tcp6"));
        String port = String.format(":%04X ", url.getPort());
        assertThat(sockets.lines().filter(line -> line.contains(port) && line.contains(" 0A ")))
                .singleElement()
                .asString()
                .contains("0100007F" + port);
    }

    @Test
    void withoutTheTokenNothingIsAnswered() throws Exception {
        assertThat(path()).matches("/[0-9a-f]{32}/");
        assertThat(raw("GET " + path(), "127.0.0.1")).startsWith("HTTP/1.1 200");
        String wrong = path().replace(path().charAt(5), path().charAt(5) == '0' ? '1' : '0');
        for (String other :
                List.of("/", "/index.html", "/api/dataset", wrong, wrong + "api/dataset", "//", "/favicon.ico")) {
            assertThat(raw("GET " + other, "127.0.0.1"))
                    .as(other)
                    .startsWith("HTTP/1.1 404")
                    .doesNotContain("photos");
        }
    }

    @Test
    void otherHostsAndMethodsAreRefused() throws Exception {
        for (String host :
                List.of("evil.example", "127.0.0.1.evil.example", "evil.example:80", "", "[::2]", "0.0.0.0")) {
            assertThat(raw("GET " + path(), host)).as(host).startsWith("HTTP/1.1 403");
        }
        for (String host : List.of("localhost", "localhost:9999", "127.0.0.1:7450", "[::1]:7450")) {
            assertThat(raw("GET " + path(), host)).as(host).startsWith("HTTP/1.1 200");
        }
        for (String method : List.of("POST", "PUT", "DELETE", "OPTIONS", "TRACE")) {
            assertThat(raw(method + " " + path(), "localhost"))
                    .as(method)
                    .startsWith("HTTP/1.1 405")
                    .doesNotContain("Access-Control");
        }
    }

    @Test
    void noPathOfARequestIsOpened() throws Exception {
        for (String path : List.of(
                "../../../etc/passwd",
                "..%2f..%2fetc/passwd",
                "%2e%2e/dataset.json",
                "index.html",
                "BrowseServer.class",
                "api/",
                "api/../browse.js",
                "/etc/passwd",
                "browse.js/")) {
            assertThat(raw("GET " + path() + path, "localhost")).as(path).startsWith("HTTP/1.1 404");
        }
    }

    @Test
    void wrongParametersAreRefusedAndLargeOnesAreBounded() throws Exception {
        for (String wrong : List.of(
                "api/samples",
                "api/samples?version=x",
                "api/samples?version=-1",
                "api/samples?version=99999999999999999999",
                "api/samples?version=3&version=3",
                "api/samples?version=3&split=nosuch",
                "api/samples?version=3&field=image&class=x",
                "api/samples?version=3&field=label",
                "api/samples?version=3&from=1.x",
                "api/samples?version=3&order=key&from=0.99",
                "api/samples?version=3&%zz=1",
                "api/sample?version=3&chunk=0&row=2147483648",
                "api/sample?version=3&chunk=0&row=4",
                "api/sample?version=3&chunk=999999999999&row=0",
                "api/sample?version=3&key=nosuch",
                "payload?version=3&chunk=0")) {
            assertThat(raw("GET " + path() + wrong, "localhost")).as(wrong).startsWith("HTTP/1.1 400");
        }
        assertThat(ask("api/samples?version=4").statusCode()).isEqualTo(500);
        assertThat(keys(json("api/samples?version=3&limit=999999999999"))).hasSize(200);
        assertThat(keys(json("api/samples?version=3&limit=0"))).hasSize(1);
        assertThat(keys(json("api/samples?version=3&from=999999999999"))).isEmpty();
    }

    @Test
    void everySampleIsOnOnePageOfEachOrder() throws Exception {
        List<String> stored = all("version=3&limit=7");
        assertThat(stored).hasSize(204).doesNotHaveDuplicates().startsWith("html/" + SCRIPT);
        assertThat(all("version=3&limit=9&order=key"))
                .containsExactlyElementsOf(stored.stream().sorted().toList());
        assertThat(all("version=3&limit=9&split=val")).hasSize(50).isSubsetOf(stored);
        assertThat(all("version=1")).hasSize(4);
        assertThat(json("api/samples?version=3&from=200").get("position").asLong())
                .isEqualTo(204);
    }

    @Test
    void samplesAreSelectedByClassAndByTheBeginOfTheirKeys() throws Exception {
        assertThat(all("version=3&limit=3&field=label&class=rare"))
                .containsExactly("rare/500", "rare/1000", "rare/1500", "rare/2000");
        assertThat(all("version=3&limit=3&prefix=usual/14"))
                .containsExactly(
                        IntStream.range(0, 10).mapToObj(i -> "usual/140" + i).toArray(String[]::new));
        assertThat(all("version=3&prefix=rare/1&field=label&class=rare&split=train"))
                .containsExactly("rare/1000", "rare/1500");
        assertThat(all("version=3&prefix=rare/1&field=label&class=usual")).isEmpty();
        assertThat(all("version=3&prefix=" + URLEncoder.encode("html/<", StandardCharsets.UTF_8)))
                .containsExactly("html/" + SCRIPT);
    }

    @Test
    void deletedSamplesAreNotThere() throws Exception {
        SampleDatasets.committer(dataset)
                .commit(CommitRequest.remove("delete", base -> List.of(RemovedRows.of(1, 1)), Map.of()));
        long newest = dataset.latestVersion();
        JsonNode change = json("api/versions?limit=1").at("/versions/0");
        assertThat(change.get("added_samples").asLong()).isZero();
        assertThat(change.path("removed_samples").asLong(-1)).isEqualTo(1);
        assertThat(change.path("updated_samples").asLong(-1)).isZero();
        assertThat(all("version=" + newest)).hasSize(203).doesNotContain("usual/101");
        assertThat(all("version=" + newest + "&order=key")).hasSize(203).doesNotContain("usual/101");
        assertThat(ask("api/sample?version=" + newest + "&chunk=1&row=1").statusCode())
                .isEqualTo(400);
        assertThat(ask("payload?version=" + newest + "&chunk=1&row=1&field=1").statusCode())
                .isEqualTo(400);
        assertThat(json("api/sample?version=3&chunk=1&row=1").get("key").asText())
                .isEqualTo("usual/101");
    }

    @Test
    void contentIsShownOnlyIfItsBytesAreOfAKindThatNeverRuns() throws Exception {
        for (int row = 0; row < 4; row++) {
            HttpResponse<byte[]> answer = ask("payload?version=3&chunk=0&row=" + row + "&field=1");
            assertThat(answer.statusCode()).isEqualTo(200);
            String type = answer.headers().firstValue("Content-Type").orElseThrow();
            assertThat(type).isEqualTo(row < 2 ? "application/octet-stream" : row == 2 ? "image/gif" : "image/png");
            assertThat(answer.headers().firstValue("Content-Disposition").isPresent())
                    .isEqualTo(row < 2);
            assertThat(answer.headers().firstValue("X-Content-Type-Options")).contains("nosniff");
            assertThat(answer.headers().firstValue("Cross-Origin-Resource-Policy"))
                    .contains("same-origin");
            assertThat(answer.headers().firstValue("Content-Security-Policy").orElseThrow())
                    .contains("default-src 'none'", "sandbox");
        }
        JsonNode samples = json("api/samples?version=1").get("samples");
        assertThat(samples.get(0).at("/content/kind").asText()).isEqualTo("text");
        assertThat(samples.get(0).at("/content/text").asText()).contains(SCRIPT);
        assertThat(samples.get(1).at("/content/kind").asText()).isEqualTo("text");
        HttpResponse<byte[]> saved = ask("payload?version=3&chunk=0&row=2&field=1&download=1");
        assertThat(saved.headers().firstValue("Content-Type")).contains("application/octet-stream");
        assertThat(saved.headers().firstValue("Content-Disposition")).contains("attachment; filename=\"sample.gif\"");
    }

    @Test
    void thePageRunsItsOwnScriptOnly() throws Exception {
        HttpResponse<byte[]> page = ask("");
        String policy = page.headers().firstValue("Content-Security-Policy").orElseThrow();
        assertThat(policy)
                .startsWith("default-src 'none'; ")
                .contains("script-src 'self';", "frame-ancestors 'none'")
                .doesNotContain("unsafe", "data:", "blob:", "*");
        assertThat(new String(page.body(), StandardCharsets.UTF_8))
                .doesNotContain("<script>", "style=", "onclick=", "http");
        assertThat(new String(ask("browse.js").body(), StandardCharsets.UTF_8))
                .doesNotContain(
                        "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function");
    }

    @Test
    void oneSampleHasAllItsMetadata() throws Exception {
        JsonNode sample = json("api/sample?version=3&chunk=3&row=2");
        assertThat(sample.get("key").asText()).isEqualTo("usual/302");
        assertThat(sample.get("split").asText()).isEqualTo("train");
        assertThat(sample.get("added_in").asLong()).isEqualTo(2);
        assertThat(sample.get("ingest").asText()).isEqualTo("ingest-1");
        assertThat(sample.at("/fields/0/value").asText()).isEqualTo("usual");
        assertThat(sample.at("/fields/1/content/text").asText()).isEqualTo("text 3.2");
        assertThat(sample.at("/fields/1/content/bytes").asInt()).isEqualTo(8);
        JsonNode byKey = json("api/sample?version=3&key=usual/302");
        assertThat(byKey).isEqualTo(sample);
    }

    @Test
    void aDamagedSampleIsNamedAndTheOthersAreShown() throws Exception {
        Path file = directory.resolve(ChunkNames.path(SampleDatasets.id(2)));
        byte[] chunk = Files.readAllBytes(file);
        int at = new String(chunk, StandardCharsets.ISO_8859_1).indexOf("text 2.4");
        chunk[at] ^= 1;
        Files.write(file, chunk);
        JsonNode page = json("api/samples?version=3&from=14&limit=10");
        assertThat(keys(page)).hasSize(10);
        assertThat(json("api/content?version=3&chunk=2&row=3&field=1")
                        .get("text")
                        .asText())
                .isEqualTo("text 2.3");
        JsonNode damaged = json("api/content?version=3&chunk=2&row=4&field=1");
        assertThat(damaged.get("kind").asText()).isEqualTo("damaged");
        assertThat(damaged.get("text").asText()).contains("usual/204", "row 4", "CRC32C");
        assertThat(ask("payload?version=3&chunk=2&row=4&field=1").statusCode()).isEqualTo(500);
        JsonNode sample = json("api/sample?version=3&chunk=2&row=4");
        assertThat(sample.at("/fields/1/content/kind").asText()).isEqualTo("damaged");
        assertThat(sample.at("/fields/0/value").asText()).isEqualTo("usual");
    }

    @Test
    void aDamagedHeadIsAProblemOfItsChunkOnly() throws Exception {
        Path file = directory.resolve(ChunkNames.path(SampleDatasets.id(2)));
        byte[] chunk = Files.readAllBytes(file);
        chunk[200] ^= 1;
        Files.write(file, chunk);
        JsonNode page = json("api/samples?version=3&from=4&limit=30");
        Stream<JsonNode> samples = StreamSupport.stream(page.get("samples").spliterator(), false);
        assertThat(samples.filter(sample -> sample.has("problem"))).hasSize(10);
        JsonNode found = json("api/samples?version=3&field=label&class=rare");
        assertThat(found.get("problems")).hasSize(1);
        assertThat(keys(found)).contains("rare/500");
    }

    @Test
    void partsOfSoundAreAnsweredForPlayers() throws Exception {
        Map<String, byte[]> sounds = Map.of("a/1", bytes("OggS0123456789"));
        commit(30, "train", List.of(sounds));
        String path = "payload?version=4&chunk=21&row=0&field=1";
        HttpResponse<byte[]> part = ask(path, "Range", "bytes=4-7");
        assertThat(part.statusCode()).isEqualTo(206);
        assertThat(part.headers().firstValue("Content-Range")).contains("bytes 4-7/14");
        assertThat(part.body()).isEqualTo(bytes("0123"));
        assertThat(ask(path, "Range", "bytes=-3").body()).isEqualTo(bytes("789"));
        assertThat(ask(path, "Range", "bytes=10-").body()).isEqualTo(bytes("6789"));
        for (String whole : List.of("bytes=99-", "bytes=5-1", "bytes=0-1,3-4", "x", "bytes=-0", "bytes=-")) {
            HttpResponse<byte[]> answer = ask(path, "Range", whole);
            assertThat(answer.statusCode()).as(whole).isEqualTo(200);
            assertThat(answer.body()).hasSize(14);
        }
    }

    @Test
    void versionsAreListedAndCompared() throws Exception {
        JsonNode newest = json("api/versions?limit=2");
        assertThat(newest.get("versions")).hasSize(2);
        assertThat(newest.at("/versions/0/version").asLong()).isEqualTo(3);
        assertThat(newest.get("next").asLong()).isEqualTo(1);
        JsonNode last = json("api/versions?limit=2&from=1");
        assertThat(last.get("versions")).hasSize(1);
        assertThat(last.has("next")).isFalse();
        assertThat(newest.at("/versions/0/added_samples").asLong()).isEqualTo(50);
        assertThat(newest.at("/versions/0/removed_samples").asLong(-1)).isZero();

        String path = "api/diff?from=2&to=3&limit=3&offset=3";
        JsonNode diff = json(path);
        while (diff.get("state").asText().equals("running")) {
            diff = json(path);
        }
        assertThat(diff.get("state").asText()).as(diff.toString()).isEqualTo("done");
        assertThat(diff.get("total").asInt()).isEqualTo(50);
        assertThat(diff.at("/splits/0/added").asInt()).isEqualTo(50);
        assertThat(keys(diff)).hasSize(3);
        assertThat(diff.at("/samples/0/change").asText()).isEqualTo("added");
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    @Test
    void aConditionSelectsSamplesInEveryOrder() throws Exception {
        String rare = "&where=" + encoded("label = 'rare'");
        List<String> expected = List.of("rare/500", "rare/1000", "rare/1500", "rare/2000");
        assertThat(all("version=3&limit=3" + rare)).containsExactlyElementsOf(expected);
        assertThat(all("version=3&limit=3&order=key" + rare)).containsExactlyInAnyOrderElementsOf(expected);
        assertThat(all("version=3&limit=3&order=size" + rare)).containsExactlyInAnyOrderElementsOf(expected);
        assertThat(all("version=3&split=val" + rare)).containsExactly("rare/2000");
        assertThat(all("version=3&where=" + encoded("key = 'usual/101'"))).containsExactly("usual/101");
        for (Map.Entry<String, String> wrong : Map.of(
                        "label == 'rare'", "==",
                        "colour = 'red'", "colour",
                        "image = 'x'", "no payload for a condition")
                .entrySet()) {
            HttpResponse<byte[]> answer = ask("api/samples?version=3&where=" + encoded(wrong.getKey()));
            assertThat(answer.statusCode()).isEqualTo(400);
            assertThat(new String(answer.body(), StandardCharsets.UTF_8)).contains(wrong.getValue());
        }
    }

    @Test
    void samplesAreSortedByAFieldOrTheirSize() throws Exception {
        List<String> stored = all("version=3&limit=50");
        List<String> byClass = all("version=3&limit=50&order=" + encoded("field:label"));
        assertThat(byClass).containsExactlyInAnyOrderElementsOf(stored);
        Function<String, String> classOf = key -> key.substring(0, key.indexOf('/'));
        assertThat(byClass.stream().map(classOf)).isSorted();
        assertThat(byClass.stream().filter(key -> key.startsWith("usual/")))
                .as("equal values keep the stored order")
                .containsExactlyElementsOf(
                        stored.stream().filter(key -> key.startsWith("usual/")).toList());
        assertThat(all("version=3&limit=50&descending=1&order=" + encoded("field:label")).stream()
                        .map(classOf))
                .isSortedAccordingTo(Comparator.reverseOrder());
        JsonNode page = json("api/samples?version=3&limit=2&order=size&descending=1");
        assertThat(keys(page).get(0)).isEqualTo("svg/1");
        assertThat(page.get("found").asInt()).isEqualTo(stored.size());
        for (String wrong : List.of("field:image", "field:none", "colour")) {
            assertThat(ask("api/samples?version=3&order=" + encoded(wrong)).statusCode())
                    .as(wrong)
                    .isEqualTo(400);
        }
    }

    @Test
    void classesAreCounted() throws Exception {
        Map<String, Long> counts = new TreeMap<>();
        JsonNode next = null;
        do {
            JsonNode part = json("api/classes?version=3&split=train" + (next == null ? "" : "&from=" + next.asLong()));
            part.get("fields")
                    .get(0)
                    .get("classes")
                    .properties()
                    .forEach(of -> counts.merge(of.getKey(), of.getValue().asLong(), Long::sum));
            next = part.get("next");
        } while (next != null);
        Map<String, Long> expected = new TreeMap<>();
        all("version=3&split=train&limit=100")
                .forEach(key -> expected.merge(key.substring(0, key.indexOf('/')), 1L, Long::sum));
        assertThat(counts).isEqualTo(expected).containsEntry("rare", 3L);
    }
}
