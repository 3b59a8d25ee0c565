package dev.stoker.connectors.kafka.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.stoker.connectors.kafka.TopicException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SchemaRegistryTest {

    private final List<String> asked = new ArrayList<>();
    private HttpServer server;
    private int status = 200;
    private String reply = "{\"id\":17}";

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            asked.add(exchange.getRequestMethod() + " " + exchange.getRequestURI() + " "
                    + exchange.getRequestHeaders().getFirst("Content-Type") + " "
                    + exchange.getRequestHeaders().getFirst("Authorization") + " "
                    + new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            byte[] bytes = reply.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private String url(String user) {
        return "http://" + user + "127.0.0.1:" + server.getAddress().getPort();
    }

    @Test
    void registersASchemaAndReturnsItsId() throws IOException {
        assertThat(SchemaRegistry.register(url("") + "/base/", "photos train-value", "{\"type\":\"string\"}"))
                .isEqualTo(17);
        assertThat(asked)
                .containsExactly(
                        "POST /base/subjects/photos+train-value/versions application/vnd.schemaregistry.v1+json null"
                                + " {\"schema\":\"{\\\"type\\\":\\\"string\\\"}\"}");

        SchemaRegistry.register(url("ada:secret@"), "x-value", "{}");
        assertThat(asked.get(1)).contains("Basic YWRhOnNlY3JldA==");
    }

    @Test
    void findsSchemasByIdAndBySubject() throws IOException {
        reply = "{\"schema\":\"{}\"}";
        SchemaRegistry registry = new SchemaRegistry(url("") + "/base/", Optional.of("ada:secret"));
        assertThat(registry.schema(7)).contains("{}");
        assertThat(registry.newest("photos train-value")).contains("{}");
        assertThat(asked)
                .containsExactly(
                        "GET /base/schemas/ids/7 null Basic YWRhOnNlY3JldA== ",
                        "GET /base/subjects/photos+train-value/versions/latest null Basic YWRhOnNlY3JldA== ");
        reply = "no JSON";
        assertThatThrownBy(() -> registry.schema(7))
                .isInstanceOf(TopicException.class)
                .hasMessageContainingAll(url(""), "no JSON")
                .hasMessageNotContaining("secret");
        status = 404;
        assertThat(registry.schema(7)).isEmpty();
        assertThat(registry.newest("x-value")).isEmpty();
        status = 500;
        assertThatThrownBy(() -> registry.newest("x-value"))
                .isInstanceOf(TopicException.class)
                .hasMessageContainingAll(url(""), "500", "/subjects/x-value/versions/latest");
    }

    @Test
    void refusalsSayWhoAndWhy() {
        status = 409;
        reply = "{\"error_code\":409,\"message\":\"incompatible\"}";
        assertThatThrownBy(() -> SchemaRegistry.register(url("ada:secret@"), "x-value", "{}"))
                .isInstanceOf(TopicException.class)
                .hasMessageContainingAll(url(""), "x-value", "409", "incompatible")
                .hasMessageNotContaining("secret");
        status = 200;
        reply = "{}";
        assertThatThrownBy(() -> SchemaRegistry.register(url(""), "x-value", "{}"))
                .hasMessageContaining("returned no id");
        server.stop(0);
        assertThatThrownBy(() -> SchemaRegistry.register(url(""), "x-value", "{}"))
                .hasMessageContaining(
                        "cannot be reached: the connection is refused: nothing listens at this address; check")
                .hasMessageNotContaining("Exception");
        assertThatThrownBy(() -> SchemaRegistry.register("http://no-such-host.invalid:1", "x-value", "{}"))
                .hasMessageContaining("cannot be reached: the name of the host is not known here; check")
                .hasMessageNotContaining("Exception");
    }
}
