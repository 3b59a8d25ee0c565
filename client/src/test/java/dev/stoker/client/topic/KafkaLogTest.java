package dev.stoker.client.topic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.client.FeedClient;
import dev.stoker.client.errors.ConnectTimeoutException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Kafka's consumer, without a broker. */
@Timeout(120)
class KafkaLogTest {
    private final MockConsumer<byte[], byte[]> consumer = new MockConsumer<>("none");
    private final KafkaLog log = new KafkaLog("photos", Duration.ofSeconds(1), consumer);

    private void write(int partition, long offset) {
        consumer.addRecord(new ConsumerRecord<>("photos", partition, offset, null, new byte[0]));
    }

    private List<String> polled() {
        return log.poll(Duration.ZERO).entries().stream()
                .map(entry -> entry.partition() + "@" + entry.offset())
                .toList();
    }

    @Test
    void readsPartitionsThatWerePausedBefore() {
        log.readFrom(Map.of(0, 0L, 1, 0L));
        write(0, 0);
        log.pause(List.of(0, 1));
        assertThat(polled()).isEmpty();

        log.readFrom(Map.of(0, 7L));
        write(0, 7);
        assertThat(polled()).containsExactly("0@7");

        log.pause(List.of(0));
        log.readFrom(Map.of(1, 0L));
        log.readFrom(Map.of(0, 8L, 1, 0L));
        write(0, 8);
        assertThat(polled()).containsExactly("0@8");
    }

    @Test
    void readsAPausedPartitionFromAnotherOffset() {
        log.readFrom(Map.of(0, 0L));
        log.pause(List.of(0));
        log.seek(0, 3);
        write(0, 3);
        assertThat(polled()).containsExactly("0@3");
    }

    @Test
    void saysThatNoBrokerAnswers() throws Exception {
        int port;
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            port = taken.getLocalPort();
        }
        assertThatThrownBy(() -> FeedClient.of("kafka://127.0.0.1:" + port + "/photos")
                        .environment(Map.of())
                        .timeouts(t -> t.connectTimeout(Duration.ofMillis(200)))
                        .open())
                .isInstanceOf(ConnectTimeoutException.class)
                .hasMessageStartingWith("topic photos at 127.0.0.1:" + port
                        + ": no broker answers there within 200 ms. Check the address")
                .hasMessageNotContaining("metadata");
    }
}
