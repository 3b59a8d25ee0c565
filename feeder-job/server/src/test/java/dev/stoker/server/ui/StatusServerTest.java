package dev.stoker.server.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.stoker.schemas.protocol.Stats;
import dev.stoker.server.feed.FeedStatus;
import dev.stoker.server.feed.LookedUp;
import dev.stoker.server.feed.NodeMetrics;
import dev.stoker.server.feed.PortRange;
import dev.stoker.server.feed.PortTakenException;
import dev.stoker.server.feed.Used;
import dev.stoker.server.http.PageServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class StatusServerTest {
    private static final Stats TOLD = new Stats(
            60_000_000,
            3_100_000,
            10,
            640,
            1 << 20,
            Map.of("disk", 2_800_000L),
            List.of(new Stats.Wait("10.0.0.2:7420", 3, "disk", 2_800_000, 12)));

    private final HttpClient client = HttpClient.newHttpClient();
    private StatusServer server;

    private static FeedStatus status() {
        FeedStatus.Rank rank = new FeedStatus.Rank(
                1,
                0,
                1,
                0,
                true,
                "stoker-python/0.1.0",
                2,
                30,
                40,
                640,
                1 << 20,
                new Used(320, 1 << 19),
                new FeedStatus.Server(5_000_000_000L, 0, 250_000_000L, 1, 2),
                Optional.of(TOLD));
        FeedStatus.Group group = new FeedStatus.Group(
                "train",
                "photos",
                3,
                "train",
                "a \"b\" \\",
                7,
                2,
                2,
                30,
                100,
                6400,
                OptionalLong.empty(),
                List.of(rank));
        return new FeedStatus(
                "photos",
                UUID.fromString("6f1d2c3b-4a59-5687-9768-a5b4c3d2e1f0"),
                new FeedStatus.Whole(List.of("127.0.0.1:7420", "127.0.0.1:7421"), 12),
                "127.0.0.1:7420",
                1_000,
                61_000,
                new NodeMetrics(
                        40,
                        1 << 20,
                        640,
                        new Used(320, 1 << 19),
                        4,
                        4096,
                        9,
                        0.25,
                        1,
                        0,
                        0,
                        0,
                        0,
                        3,
                        1000,
                        2,
                        5,
                        new LookedUp(7, 80, 900),
                        6),
                List.of(new FeedStatus.Tier("open windows", "bytes", 1000, 4000)),
                List.of(group),
                List.of("Cannot read s3a://bucket/photos"));
    }

    @BeforeEach
    void open() throws IOException {
        server = new StatusServer(StatusAddress.parse("0").orElseThrow(), StatusServerTest::status);
    }

    @AfterEach
    void close() {
        server.close();
    }

    private HttpResponse<String> ask(String method, String path) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(server.url() + path))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build();
        return client.send(request, HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void statusHasEverythingThatPagesAndProgramsNeed() throws Exception {
        HttpResponse<String> answer = ask("GET", "/status.json");
        assertThat(answer.headers().firstValue("Content-Type")).contains("application/json");
        assertThat(answer.headers().firstValue("Cache-Control")).contains("no-store");
        JsonNode json = new JsonMapper().readTree(answer.body());
        assertThat(json.at("/feed/name").asText()).isEqualTo("photos");
        assertThat(json.at("/totals/rows").asLong()).isEqualTo(640);
        assertThat(json.at("/totals/used_rows").asLong()).isEqualTo(320);
        assertThat(json.at("/totals/lookups").asLong()).isEqualTo(7);
        assertThat(json.at("/totals/lookup_keys").asLong()).isEqualTo(80);
        assertThat(json.at("/totals/lookup_bytes").asLong()).isEqualTo(900);
        assertThat(json.at("/groups/0/ranks/0/used_bytes").asLong()).isEqualTo(1 << 19);
        assertThat(json.at("/problems/0").asText()).isEqualTo("Cannot read s3a://bucket/photos");
        assertThat(json.at("/tiers/0/limit").asLong()).isEqualTo(4000);
        assertThat(json.at("/groups/0/next").asLong()).isEqualTo(30);
        assertThat(json.at("/groups/0/epochs").isNull()).isTrue();
        JsonNode rank = json.at("/groups/0/ranks/0");
        assertThat(rank.at("/server/disk").asDouble()).isEqualTo(0.25);
        assertThat(rank.at("/trainer/waited").asDouble()).isEqualTo(3.1);
        assertThat(rank.at("/trainer/causes/disk").asDouble()).isEqualTo(2.8);
        assertThat(rank.at("/trainer/waits/0/lane").asInt()).isEqualTo(3);
    }

    @Test
    void metricsNameEachFamilyOnceAndEscapeLabels() throws Exception {
        HttpResponse<String> answer = ask("GET", "/metrics");
        assertThat(answer.headers().firstValue("Content-Type")).contains("text/plain; version=0.0.4; charset=utf-8");
        List<String> lines = answer.body().lines().toList();
        assertThat(lines.stream().filter(line -> line.startsWith("# TYPE")).toList())
                .doesNotHaveDuplicates()
                .contains("# TYPE stoker_feeder_samples_total counter");
        assertThat(lines)
                .contains(
                        "stoker_feeder_samples_total{feed=\"photos\"} 640",
                        "stoker_feeder_used_samples_total{feed=\"photos\"} 320",
                        "stoker_feeder_lookup_keys_total{feed=\"photos\"} 80",
                        "stoker_group_position{feed=\"photos\",stream=\"train\",group=\"a \\\"b\\\" \\\\\"} 30",
                        "stoker_rank_wait_seconds_total{feed=\"photos\",stream=\"train\",group=\"a \\\"b\\\" \\\\\","
                                + "rank=\"1\",worker=\"0\",replica=\"0\",cause=\"disk\"} 2.8");
    }

    @Test
    void thePageNeedsNothingFromElsewhere() throws Exception {
        HttpResponse<String> answer = ask("GET", "/");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).contains("<title>Stoker</title>").doesNotContain("https://");
        assertThat(answer.body().replace("http://www.w3.org/2000/svg", "")).doesNotContain("http://");
        assertThat(answer.headers().firstValue("Content-Security-Policy").orElseThrow())
                .startsWith("default-src 'none'");
    }

    @Test
    void theLastMinutesAreThereForAPageThatIsOpenedLate() throws Exception {
        JsonNode history = new JsonMapper().readTree(ask("GET", "/history.json").body());
        assertThat(history.isArray()).isTrue();
        History full = new History();
        for (int i = 0; i < 1000; i++) {
            full.add(new History.Entry(i, i, i));
        }
        assertThat(full.all())
                .hasSize(History.SECONDS)
                .first()
                .extracting(History.Entry::ms)
                .isEqualTo(700L);
    }

    @Test
    void nothingButReadingIsPossible() throws Exception {
        for (String method : List.of("POST", "PUT", "DELETE")) {
            HttpResponse<String> answer = ask(method, "/status.json");
            assertThat(answer.statusCode()).isEqualTo(405);
            assertThat(answer.headers().firstValue("Allow")).contains("GET, HEAD");
        }
        assertThat(ask("HEAD", "/").body()).isEmpty();
        assertThat(ask("GET", "/etc/passwd").statusCode()).isEqualTo(404);
        assertThat(ask("GET", "/../page.html").statusCode()).isEqualTo(404);
    }

    @Test
    void onLoopbackOnlyNamesOfThisMachineAreAnswered() throws Exception {
        assertThat(raw("evil.example:7430")).startsWith("HTTP/1.1 403");
        assertThat(raw("localhost")).startsWith("HTTP/1.1 200");
        assertThat(raw("127.0.0.1:7430")).startsWith("HTTP/1.1 200");
        assertThat(raw("[::1]:7430")).startsWith("HTTP/1.1 200");
        assertThat(raw("127.0.0.1.evil.example")).startsWith("HTTP/1.1 403");
    }

    /** Sends a request over a plain socket, because the JDK's HTTP client does not let a caller set the Host header. */
    private String raw(String host) throws IOException {
        URI url = URI.create(server.url());
        try (Socket socket = new Socket(url.getHost(), url.getPort())) {
            OutputStream out = socket.getOutputStream();
            out.write(("GET /status.json HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII));
            InputStream in = socket.getInputStream();
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** Opens more incomplete requests than the page has threads, from clients that neither continue nor leave. */
    @Test
    void halfRequestsDoNotStopThePage() throws Exception {
        URI url = URI.create(server.url());
        List<Socket> silent = new ArrayList<>();
        try {
            for (int i = 0; i < 3 * PageServer.MAX_CONNECTIONS; i++) {
                Socket socket = new Socket(url.getHost(), url.getPort());
                silent.add(socket);
                if (i % 2 == 0) {
                    socket.getOutputStream()
                            .write("GET /metrics HTTP/1.1\r\nHost: loc".getBytes(StandardCharsets.US_ASCII));
                }
            }
            assertThat(ask("GET", "/metrics").statusCode()).isEqualTo(200);
            assertThat(raw("localhost")).startsWith("HTTP/1.1 200");
        } finally {
            for (Socket socket : silent) {
                socket.close();
            }
        }
    }

    @Test
    void connectionsThatDoNotEndTheirRequestInTimeAreClosed() throws Exception {
        PageServer.Response ok = new PageServer.Response(200, Map.of(), new byte[] {'!'});
        try (PageServer page = new PageServer(
                        "page", new InetSocketAddress("127.0.0.1", 0), Duration.ofMillis(300), request -> ok);
                Socket silent = new Socket("127.0.0.1", page.address().getPort());
                Socket half = new Socket("127.0.0.1", page.address().getPort());
                Socket answered = new Socket("127.0.0.1", page.address().getPort())) {
            half.getOutputStream().write("GET / HTTP/1.1\r\n".getBytes(StandardCharsets.US_ASCII));
            answered.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));

            assertThat(closed(silent)).isTrue();
            assertThat(closed(half)).isTrue();
            assertThat(new String(answered.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
                    .endsWith("\r\n\r\n!");
        }
    }

    private static boolean closed(Socket socket) throws IOException {
        try {
            return socket.getInputStream().read() < 0;
        } catch (SocketException e) {
            return true;
        }
    }

    @Test
    void requestsThatAreNoneAreRefused() throws Exception {
        for (String request : List.of(
                "\r\n\r\n",
                "\n\r\n\r\n",
                "GET /metrics\r\n\r\n",
                "GET http://evil.example/ HTTP/1.1\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
                "GET / HTTP/1.1\r\nX: " + "x".repeat(20_000) + "\r\n\r\n")) {
            URI url = URI.create(server.url());
            try (Socket socket = new Socket(url.getHost(), url.getPort())) {
                socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
                socket.shutdownOutput();
                assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
                        .as(request)
                        .startsWith("HTTP/1.1 400 ");
            }
        }
    }

    @Test
    void aTakenPortIsAnErrorUnlessAnyOtherWillDo() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            PortRange port = new PortRange(taken.getLocalPort(), taken.getLocalPort());
            assertThatThrownBy(() -> new StatusServer(
                            new StatusAddress("127.0.0.1", port, StatusAddress.Fallback.NONE),
                            StatusServerTest::status))
                    .isInstanceOf(PortTakenException.class)
                    .hasMessageContainingAll("127.0.0.1:" + port, "--ui");
            try (StatusServer other = new StatusServer(
                    new StatusAddress("127.0.0.1", port, StatusAddress.Fallback.ANY_PORT), StatusServerTest::status)) {
                assertThat(other.url()).doesNotEndWith(":" + port);
            }
        }
    }

    @Test
    void addressesAreParsed() {
        assertThat(StatusAddress.parse("off")).isEmpty();
        assertThat(StatusAddress.parse("7430"))
                .contains(new StatusAddress("127.0.0.1", new PortRange(7430, 7430), StatusAddress.Fallback.NONE));
        assertThat(StatusAddress.parse("0.0.0.0:7430-7449"))
                .contains(new StatusAddress("0.0.0.0", new PortRange(7430, 7449), StatusAddress.Fallback.NONE));
        assertThat(StatusAddress.parse("[::1]:7430").orElseThrow().host()).isEqualTo("::1");
        assertThat(StatusAddress.parse(StatusAddress.DEFAULT).orElseThrow().fallback())
                .isEqualTo(StatusAddress.Fallback.ANY_PORT);
        for (String wrong : new String[] {"", "x", "on", ":7430", "localhost:"}) {
            assertThatThrownBy(() -> StatusAddress.parse(wrong)).as(wrong).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
