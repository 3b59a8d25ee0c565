package dev.stoker.cli.browse;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.files.ContentField;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.json.Json;
import dev.stoker.server.http.PageServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves the page of {@code stoker browse} on 127.0.0.1. All addresses begin with a random token, so that neither other
 * users of the machine nor pages of other sites can ask. The host must be a name of this machine, so that no other site
 * can have itself answered under a name that points here.
 *
 * <p>Content of samples never gets a content type that a browser executes: pictures, sound and video are recognised by
 * their bytes, and everything else is a download. The page inserts texts of samples only as text, and its content
 * security policy forbids all scripts but its own.
 */
public final class BrowseServer implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(BrowseServer.class);

    private static final Duration DEADLINE = Duration.ofMinutes(2);
    private static final Set<String> LOCAL = Set.of("localhost", "127.0.0.1", "[::1]");
    private static final String PAGE_POLICY = "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'self';"
            + " script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    private static final String CONTENT_POLICY = "default-src 'none'; sandbox; frame-ancestors 'none'";
    private static final String JSON = "application/json";

    /** The files of the page, with their content types. */
    private static final Map<String, String> FILES = Map.of(
            "", "text/html; charset=utf-8",
            "browse.css", "text/css; charset=utf-8",
            "browse.js", "text/javascript; charset=utf-8",
            "icon.svg", "image/svg+xml");

    private final Map<String, byte[]> files = new LinkedHashMap<>();
    private final byte[] token;
    private final Values values = new Values();
    private final Versions versions;
    private final BrowseApi api;
    private final PageServer server;

    /** A part of the path that is not the token, and the rest. */
    private record Route(String token, String rest) {}

    /**
     * Starts to listen.
     *
     * @param first the version that the page shows first
     * @param port the port; 0 for any
     */
    public BrowseServer(Dataset dataset, Snapshot first, int port) throws IOException {
        for (String name : FILES.keySet()) {
            files.put(name, file(name.isEmpty() ? "index.html" : name));
        }
        byte[] random = new byte[16];
        new SecureRandom().nextBytes(random);
        this.token = bytes(HexFormat.of().formatHex(random));
        this.versions = new Versions(dataset, first);
        this.api = new BrowseApi(versions, first.version(), values);
        this.server = new PageServer(
                "stoker-browse",
                new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port),
                DEADLINE,
                this::answer);
    }

    /** Returns the address of the page, with its token. */
    public String url() {
        return "http://127.0.0.1:" + server.address().getPort() + "/" + new String(token, StandardCharsets.US_ASCII)
                + "/";
    }

    private static byte[] file(String name) throws IOException {
        try (InputStream in = BrowseServer.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IOException(name + " is missing in this build");
            }
            return in.readAllBytes();
        }
    }

    private PageServer.Response answer(PageServer.Request request) {
        if (!request.method().equals("GET") && !request.method().equals("HEAD")) {
            return problem(405, "only GET: this page changes nothing");
        }
        if (!isForHere(request.host())) {
            return problem(403, "request localhost: this page is for this machine only");
        }
        Route route = route(request.path());
        if (!MessageDigest.isEqual(token, bytes(route.token()))) {
            return problem(404, "use the whole address that stoker browse has printed");
        }
        byte[] file = files.get(route.rest());
        if (file != null) {
            return response(200, Objects.requireNonNull(FILES.get(route.rest())), PAGE_POLICY, file);
        }
        try {
            Parameters parameters = new Parameters(request.query());
            if (route.rest().equals("payload")) {
                return payload(parameters, request.range());
            }
            Optional<ObjectNode> found = route.rest().startsWith("api/")
                    ? api.answer(route.rest().substring("api/".length()), parameters)
                    : Optional.empty();
            return found.isPresent()
                    ? response(200, JSON, CONTENT_POLICY, Json.PLAIN.writeValueAsBytes(found.get()))
                    : problem(404, "there is no such page");
        } catch (IllegalArgumentException e) {
            return problem(400, BrowseProblems.text(e));
        } catch (IOException e) {
            LOG.debug("A request failed", e);
            return problem(500, BrowseProblems.text(e));
        }
    }

    private static Route route(String path) {
        int slash = path.indexOf('/', 1);
        return slash < 0
                ? new Route(path.substring(1), "-")
                : new Route(path.substring(1, slash), path.substring(slash + 1));
    }

    private static boolean isForHere(String asked) {
        int colon = asked.lastIndexOf(':');
        return LOCAL.contains(colon > asked.lastIndexOf(']') ? asked.substring(0, colon) : asked);
    }

    /** The bytes of a value: as a picture, sound or video if it is one, or else as a file to save. */
    private PageServer.Response payload(Parameters parameters, String range) throws IOException {
        BrowsedVersion version = versions.open(parameters.required("version"));
        RowAddress place = RowAddress.of(version.table(), parameters.required("chunk"), parameters.required("row"));
        int field = parameters.bounded("field", 0, 0, version.fields().size() - 1);
        ChunkHead head = version.samples().head(place.chunk());
        if (!ContentField.hasBytes(version.fields().get(field))
                || head.column(field).isNull(place.row())) {
            return problem(404, "the sample has no bytes in this field");
        }
        if (Values.length(head, field, place.row()) > Values.MOST_BYTES) {
            return problem(413, "the value is too long for this page; use stoker get");
        }
        byte[] value = values.read(version, place, field);
        Optional<MediaType> media = MediaType.of(ByteBuffer.wrap(value));
        boolean isShown = media.isPresent() && !parameters.isSet("download");
        String type = isShown ? media.get().contentType() : "application/octet-stream";
        Optional<ByteRange> part = isShown ? ByteRange.of(range, value.length) : Optional.empty();
        byte[] body = part.isEmpty()
                ? value
                : Arrays.copyOfRange(value, part.get().first(), part.get().last() + 1);
        PageServer.Response response = response(part.isEmpty() ? 200 : 206, type, CONTENT_POLICY, body);
        part.ifPresent(of ->
                response.headers().put("Content-Range", "bytes " + of.first() + "-" + of.last() + "/" + value.length));
        if (isShown) {
            response.headers().put("Accept-Ranges", "bytes");
            // The content of a version never changes.
            response.headers().put("Cache-Control", "private, max-age=3600");
        } else {
            String extension = media.map(MediaType::extension).orElse("bin");
            response.headers().put("Content-Disposition", "attachment; filename=\"sample." + extension + "\"");
        }
        return response;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private PageServer.Response problem(int code, String text) {
        ObjectNode node = JsonNodeFactory.instance.objectNode().put("problem", text);
        PageServer.Response response = response(code, JSON, CONTENT_POLICY, bytes(node.toString()));
        if (code == 405) {
            response.headers().put("Allow", "GET, HEAD");
        }
        return response;
    }

    private static PageServer.Response response(int code, String type, String policy, byte[] body) {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("Content-Type", type);
        headers.put("Content-Security-Policy", policy);
        headers.put("X-Content-Type-Options", "nosniff");
        headers.put("Cross-Origin-Resource-Policy", "same-origin");
        headers.put("Cross-Origin-Opener-Policy", "same-origin");
        headers.put("Referrer-Policy", "no-referrer");
        headers.put("Cache-Control", "no-store");
        return new PageServer.Response(code, headers, body);
    }

    @Override
    public void close() {
        server.close();
        api.close();
    }
}
