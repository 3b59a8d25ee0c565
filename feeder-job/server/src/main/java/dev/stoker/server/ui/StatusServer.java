package dev.stoker.server.ui;

import dev.stoker.server.feed.FeedStatus;
import dev.stoker.server.feed.PortRange;
import dev.stoker.server.feed.PortTakenException;
import dev.stoker.server.feed.StatusPage;
import dev.stoker.server.http.PageServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The page of a feeder ({@code /}), {@code /status.json}, {@code /history.json} and {@code /metrics}; answers GET and
 * HEAD and changes nothing. On loopback it answers only to names of this machine, so that no page of another site can
 * have itself answered under a name that points here.
 */
public final class StatusServer implements StatusPage {
    private static final Logger LOG = LoggerFactory.getLogger(StatusServer.class);
    private static final Duration DEADLINE = Duration.ofSeconds(5);
    private static final Set<String> LOCAL = Set.of("localhost", "127.0.0.1", "[::1]");
    private static final String POLICY =
            "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src"
                    + " data:";

    private final PageServer server;
    private final String host;
    private final boolean loopback;
    private final String url;
    private final byte[] page;
    private final Supplier<FeedStatus> status;
    private final History history = new History();
    private final ScheduledExecutorService clock =
            Executors.newSingleThreadScheduledExecutor(PageServer.threads("stoker-status-clock"));

    /**
     * Listens at the first free port of the address.
     *
     * @param status how the feed stands; called once a second and for each request
     * @throws PortTakenException if no port is free, saying what to do
     */
    public StatusServer(StatusAddress address, Supplier<FeedStatus> status) throws IOException {
        this.status = status;
        this.host = address.host();
        this.page = page();
        // Known before the first request comes.
        this.loopback = InetAddress.getByName(host).isLoopbackAddress();
        this.server = bind(address);
        InetSocketAddress bound = server.address();
        this.url = "http://" + shown(bound.getAddress()) + ":" + bound.getPort();
        Future<?> unused = clock.scheduleAtFixedRate(this::remember, 0, 1, TimeUnit.SECONDS);
        LOG.info("The feed is shown at {}", url);
    }

    private PageServer bind(StatusAddress address) throws IOException {
        PortRange ports = address.ports();
        BindException taken = null;
        for (int port = ports.first(); port <= ports.last(); port++) {
            try {
                return page(address.host(), port);
            } catch (BindException e) {
                taken = e;
            }
        }
        if (address.fallback() == StatusAddress.Fallback.ANY_PORT) {
            return page(address.host(), 0);
        }
        throw PortTakenException.ofPage(address.host(), ports, taken);
    }

    private PageServer page(String host, int port) throws IOException {
        return new PageServer("stoker-status", new InetSocketAddress(host, port), DEADLINE, this::answer);
    }

    private static String shown(InetAddress bound) throws IOException {
        String host = (bound.isAnyLocalAddress() ? InetAddress.getLocalHost() : bound).getHostAddress();
        return host.indexOf(':') >= 0 ? "[" + host + "]" : host;
    }

    private static byte[] page() throws IOException {
        try (InputStream in = StatusServer.class.getResourceAsStream("page.html")) {
            if (in == null) {
                throw new IOException("page.html is missing in this build");
            }
            return in.readAllBytes();
        }
    }

    private void remember() {
        try {
            FeedStatus now = status.get();
            history.add(new History.Entry(
                    now.nowMs(), now.totals().used().rows(), now.totals().used().bytes()));
        } catch (RuntimeException e) {
            LOG.debug("Failed to record the feed's status", e);
        }
    }

    private PageServer.Response answer(PageServer.Request request) {
        if (!request.method().equals("GET") && !request.method().equals("HEAD")) {
            return response(405, "text/plain", bytes("only GET: this page changes nothing\n"));
        }
        if (!isForHere(request.host())) {
            return response(
                    403,
                    "text/plain",
                    bytes("request localhost or " + host + ": this page is for this machine only; --ui makes it"
                            + " available to others\n"));
        }
        return switch (request.path()) {
            case "/" -> response(200, "text/html; charset=utf-8", page);
            case "/status.json" -> response(200, "application/json", StatusJson.of(status.get()));
            case "/history.json" -> response(200, "application/json", StatusJson.of(history.all()));
            case "/metrics" -> response(200, PrometheusText.CONTENT_TYPE, bytes(PrometheusText.of(status.get())));
            default -> response(404, "text/plain", bytes("there are /, /status.json, /history.json and /metrics\n"));
        };
    }

    private boolean isForHere(String asked) {
        if (!loopback || asked.isEmpty()) {
            return true;
        }
        int colon = asked.lastIndexOf(':');
        String name = colon > asked.lastIndexOf(']') ? asked.substring(0, colon) : asked;
        return LOCAL.contains(name) || name.equals(host);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static PageServer.Response response(int code, String type, byte[] body) {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("Content-Type", type);
        headers.put("Cache-Control", "no-store");
        headers.put("X-Content-Type-Options", "nosniff");
        headers.put("Referrer-Policy", "no-referrer");
        headers.put("Content-Security-Policy", POLICY);
        if (code == 405) {
            headers.put("Allow", "GET, HEAD");
        }
        return new PageServer.Response(code, headers, body);
    }

    @Override
    public String url() {
        return url;
    }

    @Override
    public void close() {
        server.close();
        clock.shutdownNow();
    }
}
