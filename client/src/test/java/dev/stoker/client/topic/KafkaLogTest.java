package dev.stoker.client.topic;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.client.FeedClient;
import dev.stoker.client.errors.ConnectTimeoutException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Kafka's consumer where there is no broker. */
@Timeout(120)
class KafkaLogTest {
    @Test
    void saysThatNoBrokerAnswers() throws Exception {
        int port;
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            port = taken.getLocalPort();
        }
        assertThatThrownBy(() -> FeedClient.of("kafka://127.0.0.1:" + port + "/photos")
                        .environment(Map.of())
                        .connectTimeout(Duration.ofMillis(200))
                        .open())
                .isInstanceOf(ConnectTimeoutException.class)
                .hasMessageStartingWith("topic photos at 127.0.0.1:" + port
                        + ": no broker answers there within 200 ms. Check the address")
                .hasMessageNotContaining("metadata");
    }
}
