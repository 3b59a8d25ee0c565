package dev.stoker.cli.browse;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.schemas.chunk.ChunkNames;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class BrowseServerTest extends BrowsedDataset {

    /** Sends a request as it is: HTTP clients change paths and hosts. */
    private String raw(String line, String host) throws IOException {
        URI url = URI.create(server.url());
        try (Socket socket = new Socket(url.getHost(), url.getPort())) {
            OutputStream out = socket.getOutputStream();
            out.write(bytes(line + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n"));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        }
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
}
