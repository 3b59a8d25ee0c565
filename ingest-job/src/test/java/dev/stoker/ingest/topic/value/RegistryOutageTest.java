package dev.stoker.ingest.topic.value;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.stoker.flink.failure.FailureKind;
import dev.stoker.flink.failure.Patience;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A schema registry that is unavailable suspends a streaming ingest and does not end it. */
class RegistryOutageTest {
    private static final String SCHEMA =
            "{\"type\":\"record\",\"name\":\"Sample\",\"fields\":[{\"name\":\"n\",\"type\":\"long\"}]}";
    /** Schema 7, and n = 21. */
    /** As in a fetch, where a value is a part of an array. */
    private static final ByteBuffer VALUE = ByteBuffer.wrap(new byte[] {9, 0, 0, 0, 0, 7, 42, 9}, 1, 6);

    private final AtomicInteger asked = new AtomicInteger();
    private volatile int failures;
    private volatile int status;
    private HttpServer server;
    private int port;

    @BeforeEach
    void begin() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        port = server.getAddress().getPort();
        server.createContext("/", exchange -> {
            boolean isAway = asked.incrementAndGet() <= failures;
            byte[] bytes = ("{\"schema\":\"" + SCHEMA.replace("\"", "\\\"") + "\"}").getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(isAway ? status : 200, bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void end() {
        server.stop(0);
    }

    private AvroReader reader(Patience patience) throws IOException {
        RecordFormat format = new RecordFormat(
                RecordFormat.Kind.AVRO, null, SCHEMA, RecordFormat.Wire.CONFLUENT, "http://127.0.0.1:" + port);
        return new AvroReader(format, List.of(Field.small("n", FieldType.parse("int64"))), new Properties(), patience);
    }

    @Test
    void aRecordWaitsUntilTheRegistryAnswers() throws Exception {
        failures = 2;
        status = 503;
        reader(Patience.endlessAfterRestore()).read(VALUE);
        assertThat(asked).hasValue(3);
    }

    @Test
    void anUnreachableRegistryIsATemporaryFailure() throws Exception {
        server.stop(0);
        assertThatThrownBy(() -> reader(Patience.ofBatch()).read(VALUE))
                .hasMessageContaining("cannot be reached")
                .satisfies(failure -> assertThat(FailureKind.of(failure)).isEqualTo(FailureKind.PASSING));
    }

    @Test
    void aRefusalIsFinal() throws Exception {
        failures = 1;
        status = 401;
        assertThatThrownBy(() -> reader(Patience.endlessAfterRestore()).read(VALUE))
                .hasMessageContaining("answered 401")
                .satisfies(failure -> assertThat(FailureKind.of(failure)).isEqualTo(FailureKind.FINAL));
        assertThat(asked).hasValue(1);
    }
}
