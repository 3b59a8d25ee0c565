package dev.stoker.connectors.kafka;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;

/** Registers schemas at a registry that speaks the protocol of Confluent's. */
public final class SchemaRegistry {
    private static final JsonMapper JSON = new JsonMapper();
    private static final String TYPE = "application/vnd.schemaregistry.v1+json";
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private SchemaRegistry() {}

    /**
     * Registers an Avro schema; one that is known already keeps its id.
     *
     * @param url of the registry; user and password in it are sent as such
     * @param subject under which it is known
     * @return the schema's id
     * @throws TopicException if the registry cannot be reached, or refuses it
     */
    public static int register(String url, String subject, String schema) throws IOException {
        URI given = URI.create(url.endsWith("/") ? url.substring(0, url.length() - 1) : url);
        String user = given.getRawUserInfo();
        String base = user == null ? given.toString() : given.toString().replace(user + "@", "");
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(
                        base + "/subjects/" + URLEncoder.encode(subject, StandardCharsets.UTF_8) + "/versions"))
                .timeout(PATIENCE)
                .header("Content-Type", TYPE)
                .header("Accept", TYPE)
                .POST(HttpRequest.BodyPublishers.ofString(JsonNodeFactory.instance
                        .objectNode()
                        .put("schema", schema)
                        .toString()));
        if (user != null) {
            request.header(
                    "Authorization",
                    "Basic "
                            + Base64.getEncoder()
                                    .encodeToString(given.getUserInfo().getBytes(StandardCharsets.UTF_8)));
        }
        try {
            HttpResponse<String> reply = HttpClient.newBuilder()
                    .connectTimeout(PATIENCE)
                    .build()
                    .send(request.build(), HttpResponse.BodyHandlers.ofString());
            if (reply.statusCode() != 200) {
                throw new TopicException("The schema registry " + base + " refused the schema of " + subject + ": "
                        + reply.statusCode() + " " + reply.body());
            }
            JsonNode id = JSON.readTree(reply.body()).path("id");
            if (!id.isInt()) {
                throw new TopicException(
                        "The schema registry " + base + " gave no id for " + subject + ": " + reply.body());
            }
            return id.intValue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new TopicException("Interrupted while the schema registry " + base + " was asked");
        } catch (TopicException e) {
            throw e;
        } catch (IOException e) {
            throw new TopicException("The schema registry " + base + " cannot be reached: " + e);
        }
    }
}
