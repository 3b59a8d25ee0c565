package dev.stoker.client;

import static dev.stoker.client.FakeStream.read;
import static dev.stoker.client.TopicFeeds.client;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.client.errors.BatchTimeoutException;
import dev.stoker.client.errors.ConnectTimeoutException;
import dev.stoker.client.errors.CorruptBatchException;
import dev.stoker.client.errors.FeedException;
import dev.stoker.client.errors.OrderMismatchException;
import dev.stoker.client.errors.StateMismatchException;
import dev.stoker.schemas.kafka.RecordHeader;
import dev.stoker.schemas.kafka.RecordKind;
import dev.stoker.schemas.order.Fingerprint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A topic that cannot be read, or not as asked for: the error says where, and what to do. */
@Timeout(120)
class TopicErrorsTest {
    @RegisterExtension
    final TopicFeeds feeds = new TopicFeeds();

    final FakeTopic topic = topic(TopicClientTest.STREAM);

    /** A topic of the values that are tested. */
    FakeTopic topic(FakeStream stream) {
        return new FakeTopic(stream, 1);
    }

    void fails(FakeTopic from, Class<? extends Exception> type, String... said) {
        var check = assertThatThrownBy(() ->
                        read(feeds.open(client(from).timeouts(t -> t.batchTimeout(Duration.ofMillis(300))))))
                .isInstanceOf(type);
        for (String text : said) {
            check.hasMessageContaining(text);
        }
    }

    @Test
    void aGapIsNamed() {
        topic.write(0).partitions.get(2).remove(3);
        fails(topic, FeedException.class, "partition 2, offset 3: ", "the topic has a gap");
    }

    @Test
    void aFlippedRecordIsNamed() {
        List<FakeTopic.Content> log = topic.write(0).partitions.get(1);
        byte[] value = log.get(4).value().clone();
        value[value.length / 2] ^= 4;
        log.set(4, new FakeTopic.Content(log.get(4).headers(), value));
        fails(
                topic,
                CorruptBatchException.class,
                "topic photos at broker:9092, partition 1, offset 4 is corrupt: CRC32C");
    }

    @Test
    void aMisroutedRecordIsNamed() {
        topic.write(0);
        topic.partitions.get(1).add(4, topic.partitions.get(0).get(4));
        fails(topic, FeedException.class, "partition 1, offset 4: ", " of lane 0 was misrouted to partition 1");
    }

    @Test
    void anotherFeedsRecordIsRefused() {
        RecordHeader other =
                new RecordHeader(RecordKind.BATCH, new Fingerprint("ab".repeat(16)), 1, 0, 0, 3, 0, 1, 0, 1, 0, 0);
        topic.write(0).partitions.get(3).add(3, FakeTopic.content(other, new byte[0]));
        fails(topic, StateMismatchException.class, "partition 3, offset 3: ", " belongs to another feed");
    }

    @Test
    void aRecordOfSomethingElseIsRefused() {
        topic.write(0)
                .partitions
                .get(3)
                .add(3, new FakeTopic.Content(Map.of("traceparent", new byte[] {49}), new byte[] {1}));
        fails(topic, FeedException.class, "partition 3, offset 3", "it has no header stoker.format");
    }

    @Test
    void aPositionThatWasDeletedNamesRetention() {
        topic.write(0, 1);
        String state = feeds.open(topic).epoch().next().state();
        topic.begin = 6;
        FeedClient feed = feeds.open(topic);
        feed.load(state);
        assertThatThrownBy(() -> read(feed))
                .isInstanceOf(FeedException.class)
                .hasMessageContaining("is no longer there")
                .hasMessageContaining("retention.ms");
    }

    @Test
    void aTopicThatWasCreatedAnewIsNamedAsSuch() {
        topic.write(0, 1);
        String state = feeds.open(topic).epoch().next().state();
        // Only the records that the feed wrote before it noticed.
        topic.partitions.forEach(partition -> partition.subList(0, 6).clear());
        FeedClient feed = feeds.open(topic);
        feed.load(state);
        assertThatThrownBy(() -> read(feed))
                .isInstanceOf(FeedException.class)
                .hasMessageContaining("(offset 0): nothing was ever deleted from it")
                .hasMessageContaining("recreated");
    }

    @Test
    void aStateOfOtherDataIsRefused() {
        topic.write(0);
        FeedClient feed = feeds.open(topic);
        String other = feed.state().replace("0011", "1100");
        assertThatThrownBy(() -> feed.load(other))
                .isInstanceOf(StateMismatchException.class)
                .hasMessageContaining("fingerprint");
    }

    @Test
    void whatTheTopicDoesNotHoldIsRefused() {
        topic.write(0);
        assertThatThrownBy(() -> client(topic).batchSize(8).open())
                .isInstanceOf(OrderMismatchException.class)
                .hasMessageContaining("batch_size 4, asked for 8");
        assertThatThrownBy(() -> client(topic).stream("val").open())
                .isInstanceOf(StateMismatchException.class)
                .hasMessageContaining("holds stream train, not val");
        assertThatThrownBy(() -> client(topic).version(9).open())
                .isInstanceOf(StateMismatchException.class)
                .hasMessageContaining("version 3, asked for 9");
    }

    @Test
    void aMissingTopicIsNamed() {
        topic.isThere = false;
        assertThatThrownBy(() -> client(topic)
                        .timeouts(t -> t.connectTimeout(Duration.ofMillis(200)))
                        .open())
                .isInstanceOf(ConnectTimeoutException.class)
                .hasMessageContaining("topic photos at broker:9092: not there within 200 ms");
    }

    @Test
    void anEmptyTopicIsWaitedFor() {
        assertThatThrownBy(() -> client(topic)
                        .timeouts(t -> t.connectTimeout(Duration.ofMillis(200)))
                        .open())
                .isInstanceOf(ConnectTimeoutException.class)
                .hasMessageContaining("no record yet");
    }

    @Test
    void aTopicOfAnotherNumberOfPartitionsIsRefused() {
        topic.write(0).partitions.add(new ArrayList<>());
        assertThatThrownBy(() -> client(topic).open())
                .isInstanceOf(FeedException.class)
                .hasMessageContaining("has 5 partitions, but its feed wrote 4 lanes");
    }

    @Test
    void aBatchThatDoesNotComeIsNamedAndMayStillCome() {
        List<FakeTopic.Content> log = topic.write(0).partitions.get(2);
        List<FakeTopic.Content> rest = new ArrayList<>(log.subList(2, log.size()));
        log.subList(2, log.size()).clear();
        FeedClient feed = feeds.open(client(topic).timeouts(t -> t.batchTimeout(Duration.ofMillis(300))));
        List<String> batches = new ArrayList<>();
        Iteration epoch = feed.epoch();
        assertThatThrownBy(() -> {
                    while (epoch.hasNext()) {
                        batches.add(FakeStream.text(epoch.next()));
                    }
                })
                .isInstanceOf(BatchTimeoutException.class)
                .hasMessageContaining("did not arrive from partition 2")
                .hasMessageContaining("--throttle-groups");
        synchronized (topic) {
            log.addAll(rest);
        }
        while (epoch.hasNext()) {
            batches.add(FakeStream.text(epoch.next()));
        }
        assertThat(batches).isEqualTo(TopicClientTest.expected(0, TopicClientTest.ALONE, 0));
    }
}
