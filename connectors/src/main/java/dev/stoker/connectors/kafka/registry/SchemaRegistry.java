package dev.stoker.connectors.kafka.registry;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.stoker.connectors.kafka.TopicException;
import dev.stoker.flink.failure.ConnectionText;
import dev.stoker.flink.failure.Passing;
import dev.stoker.schemas.json.Json;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A client of a schema registry with Confluent's protocol. For one thread.
 *
 * <p>Not with Confluent's client: it is not in Maven Central, and it brings many libraries into the job jars. Three
 * requests of the REST API suffice: register a schema, get one by its ID, and get the newest one of a subject.
 */
public final class SchemaRegistry {
    private static final String TYPE = "application/vnd.schemaregistry.v1+json";
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int OK = 200;
    private static final int NOT_FOUND = 404;
    private static final int REQUEST_TIMEOUT = 408;
    private static final int TOO_MANY_REQUESTS = 429;
    private static final int SERVER_ERROR = 500;

    private final String base;
    private final Optional<String> authorization;
    private final HttpClient client =
            HttpClient.newBuilder().connectTimeout(PATIENCE).build();

    /**
     * Creates a client without a request.
     *
     * @param url of the registry; a user and password in it are sent for authentication
     * @param user {@code user:password}, which overrides the URL's
     */
    public SchemaRegistry(String url, Optional<String> user) {
        URI given = URI.create(url.endsWith("/") ? url.substring(0, url.length() - 1) : url);
        String own = given.getRawUserInfo();
        this.base = own == null ? given.toString() : given.toString().replace(own + "@", "");
        this.authorization = user.or(() -> Optional.ofNullable(given.getUserInfo()))
                .map(text -> "Basic " + Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8)));
    }

    /**
     * Registers an Avro schema. A known schema keeps its id.
     *
     * @param url of the registry; a user and password in it are sent for authentication
     * @param subject the schema's subject
     * @return the schema's id
     * @throws TopicException if the registry cannot be reached or refuses the schema
     */
    public static int register(String url, String subject, String schema) throws IOException {
        return new SchemaRegistry(url, Optional.empty()).register(subject, schema);
    }

    private int register(String subject, String schema) throws IOException {
        String body =
                JsonNodeFactory.instance.objectNode().put("schema", schema).toString();
        HttpResponse<String> reply = send(request("/subjects/" + encoded(subject) + "/versions")
                .header("Content-Type", TYPE)
                .POST(HttpRequest.BodyPublishers.ofString(body)));
        if (reply.statusCode() != OK) {
            throw new TopicException("The schema registry " + base + " refused the schema of " + subject + ": "
                    + reply.statusCode() + " " + reply.body());
        }
        JsonNode id = json(reply).path("id");
        if (!id.isInt()) {
            throw new TopicException(
                    "The schema registry " + base + " returned no id for " + subject + ": " + reply.body());
        }
        return id.intValue();
    }

    /**
     * Returns the schema of an id, as JSON.
     *
     * @return empty if the registry does not know the id
     * @throws TopicException if it does not answer
     */
    public Optional<String> schema(int id) throws IOException {
        return schemaAt("/schemas/ids/" + id);
    }

    /**
     * Returns the newest schema of a subject, as JSON.
     *
     * @return empty if the registry does not know the subject
     * @throws TopicException if it does not answer
     */
    public Optional<String> newest(String subject) throws IOException {
        return schemaAt("/subjects/" + encoded(subject) + "/versions/latest");
    }

    private Optional<String> schemaAt(String path) throws IOException {
        HttpResponse<String> reply = send(request(path));
        if (reply.statusCode() == NOT_FOUND) {
            return Optional.empty();
        }
        if (reply.statusCode() != OK) {
            String message = "The schema registry " + base + " answered " + reply.statusCode() + " to " + path;
            throw isUnavailable(reply.statusCode())
                    ? new RegistryAwayException(message, null)
                    : new TopicException(message);
        }
        return Optional.of(json(reply).path("schema").asText());
    }

    /** Returns whether the registry, or a proxy before it, cannot serve any request at present. */
    private static boolean isUnavailable(int status) {
        return status >= SERVER_ERROR || status == REQUEST_TIMEOUT || status == TOO_MANY_REQUESTS;
    }

    private JsonNode json(HttpResponse<String> reply) throws TopicException {
        try {
            return Json.PLAIN.readTree(reply.body());
        } catch (JsonProcessingException e) {
            throw new TopicException("The schema registry " + base + " returned invalid JSON: " + reply.body(), e);
        }
    }

    private static String encoded(String subject) {
        return URLEncoder.encode(subject, StandardCharsets.UTF_8);
    }

    private HttpRequest.Builder request(String path) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base + path))
                .timeout(PATIENCE)
                .header("Accept", TYPE);
        authorization.ifPresent(text -> request.header("Authorization", text));
        return request;
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws TopicException {
        try {
            return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new TopicException("Interrupted while waiting for the schema registry " + base);
        } catch (IOException e) {
            throw new RegistryAwayException(
                    "The schema registry " + base + " cannot be reached: " + ConnectionText.of(e)
                            + "; check the address, and that the registry runs",
                    e);
        }
    }

    /** The registry did not answer, or answered that it cannot serve requests at present. A retry may succeed. */
    private static final class RegistryAwayException extends TopicException implements Passing {
        private static final long serialVersionUID = 1L;

        RegistryAwayException(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }
}
