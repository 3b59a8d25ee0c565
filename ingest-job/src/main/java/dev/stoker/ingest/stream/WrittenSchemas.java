package dev.stoker.ingest.stream;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Optional;
import java.util.Properties;
import org.apache.avro.Schema;

/** The schemas of a registry that speaks the protocol of Confluent's. One thread. */
final class WrittenSchemas {

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final String USER = "basic.auth.user.info";
    private static final int NOT_FOUND = 404;
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final String url;
    private final Optional<String> authorization;
    private final HttpClient client;

    /** @param clients settings, of which {@code basic.auth.user.info} is used */
    WrittenSchemas(String url, Properties clients) {
        this.url = url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
        this.authorization = Optional.ofNullable(clients.getProperty(USER))
                .map(user -> "Basic " + Base64.getEncoder().encodeToString(user.getBytes(StandardCharsets.UTF_8)));
        this.client = HttpClient.newBuilder().connectTimeout(PATIENCE).build();
    }

    /**
     * The schema of an id.
     *
     * @return empty if the registry knows none
     * @throws IOException if it does not answer
     */
    Optional<Schema> schema(int id) throws IOException {
        return get("/schemas/ids/" + id)
                .map(json -> AvroFields.parse(json.path("schema").asText()));
    }

    /** The newest schema of a topic's values, as JSON. */
    Optional<String> newest(String topic) throws IOException {
        String subject = URLEncoder.encode(topic + "-value", StandardCharsets.UTF_8);
        return get("/subjects/" + subject + "/versions/latest")
                .map(json -> json.path("schema").asText());
    }

    private Optional<JsonNode> get(String path) throws IOException {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(url + path)).timeout(PATIENCE);
        authorization.ifPresent(text -> request.header("Authorization", text));
        try {
            HttpResponse<byte[]> response = client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
            if (response.statusCode() == NOT_FOUND) {
                return Optional.empty();
            }
            if (response.statusCode() != 200) {
                throw new IOException(
                        "the schema registry " + url + " answers " + response.statusCode() + " to " + path);
            }
            return Optional.of(MAPPER.readTree(response.body()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for the schema registry " + url);
        }
    }
}
