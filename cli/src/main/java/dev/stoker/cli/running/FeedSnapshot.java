package dev.stoker.cli.running;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.schemas.json.Json;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;

/**
 * The status reports of a feed's servers at one moment.
 *
 * @param nanos when they were requested, by {@link System#nanoTime}
 * @param servers the {@code /status.json} of each that answered
 * @param problems why other servers did not answer
 */
public record FeedSnapshot(long nanos, List<JsonNode> servers, List<String> problems) {

    private static final int TIMEOUT_MS = 2_000;
    private static final int MAX_BYTES = 64 << 20;

    public FeedSnapshot {
        servers = List.copyOf(servers);
        problems = List.copyOf(problems);
    }

    /** Requests the status of every server of a feed. */
    public static FeedSnapshot of(FeedFile feed) {
        List<JsonNode> servers = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        for (JsonNode url : feed.json().path("status")) {
            try {
                servers.add(fetch(url.asText()));
            } catch (IOException | IllegalArgumentException e) {
                problems.add(url.asText() + " does not answer: " + e.getMessage());
            }
        }
        if (servers.isEmpty() && problems.isEmpty()) {
            problems.add("the feed has no status page: start it without --ui off");
        }
        return new FeedSnapshot(System.nanoTime(), servers, problems);
    }

    private static JsonNode fetch(String url) throws IOException {
        HttpURLConnection connection =
                (HttpURLConnection) URI.create(url + "/status.json").toURL().openConnection(Proxy.NO_PROXY);
        connection.setConnectTimeout(TIMEOUT_MS);
        connection.setReadTimeout(TIMEOUT_MS);
        connection.setInstanceFollowRedirects(false);
        try (InputStream in = connection.getInputStream()) {
            return Json.PLAIN.readTree(in.readNBytes(MAX_BYTES));
        } finally {
            connection.disconnect();
        }
    }
}
