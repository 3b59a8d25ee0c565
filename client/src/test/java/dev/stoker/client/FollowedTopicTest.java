package dev.stoker.client;

import static dev.stoker.client.FakeStream.read;
import static dev.stoker.client.TopicFeeds.client;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.client.errors.BatchTimeoutException;
import dev.stoker.client.errors.StateMismatchException;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.TailPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A topic whose feed follows its dataset: each epoch has a separate version. */
@Timeout(120)
class FollowedTopicTest {
    /** The contents of versions 1, 2 and 3. */
    private static final List<FakeStream> VERSIONS = List.of(
            TopicFeeds.stream("00112233445566778899aabbccddeeff", 4, 23, 17, 9, 30),
            TopicFeeds.stream("10112233445566778899aabbccddeeff", 4, 28, 17, 19, 30),
            TopicFeeds.stream("20112233445566778899aabbccddeeff", 4, 40, 41, 39, 44));

    private final FakeTopic topic = new FakeTopic(VERSIONS.get(0), 1);

    @RegisterExtension
    final TopicFeeds feeds = new TopicFeeds();

    /** Writes epochs of these versions. */
    private void writeAll(int... versions) {
        for (int epoch = 0; epoch < versions.length; epoch++) {
            write(epoch, versions[epoch]);
        }
    }

    private void write(long epoch, int version) {
        synchronized (topic) {
            topic.write(VERSIONS.get(version - 1), version, epoch);
        }
    }

    private static List<String> expected(long epoch, int version, int rank, int worldSize, TailPolicy tail) {
        return VERSIONS.get(version - 1).expected(epoch, tail, Participant.rank(rank, worldSize), 0);
    }

    private static List<String> expected(long epoch, int version) {
        return expected(epoch, version, 0, 1, TailPolicy.PAD);
    }

    @ParameterizedTest
    @EnumSource(TailPolicy.class)
    void eachEpochIsReadAtItsOwnVersion(TailPolicy tail) {
        int[] versions = {1, 3, 3, 2};
        writeAll(versions);
        for (int worldSize = 1; worldSize <= 3; worldSize++) {
            for (int rank = 0; rank < worldSize; rank++) {
                FeedClient feed = feeds.open(client(topic).rank(rank, worldSize).steps(s -> s.tail(tail)));
                for (int epoch = 0; epoch < versions.length; epoch++) {
                    List<String> expected = expected(epoch, versions[epoch], rank, worldSize, tail);
                    assertThat(feed.steps()).isEqualTo(expected.size());
                    assertThat(read(feed)).isEqualTo(expected);
                    assertThat(feed.info().version()).isEqualTo(versions[epoch]);
                }
            }
        }
    }

    @Test
    void everyPositionIsGoneOnFromInItsVersion() {
        int[] versions = {1, 2, 3};
        writeAll(versions);
        FeedClient whole = feeds.open(topic);
        for (int epoch = 0; epoch < 3; epoch++) {
            List<String> states = new ArrayList<>();
            for (Batch batch : whole.epoch()) {
                states.add(batch.state());
            }
            for (int at = 0; at < states.size() - 1; at += 5) {
                FeedClient feed = feeds.open(topic);
                feed.load(states.get(at));
                List<String> expected = expected(epoch, versions[epoch]);
                assertThat(read(feed)).isEqualTo(expected.subList(at + 1, expected.size()));
                if (epoch < 2) {
                    assertThat(read(feed)).isEqualTo(expected(epoch + 1, versions[epoch + 1]));
                }
            }
        }
    }

    @Test
    void aStateOfAnotherVersionIsRefused() {
        writeAll(1, 2);
        FeedClient feed = feeds.open(topic);
        read(feed);
        String state = feed.epoch().next().state();
        assertThat(state).contains("\"version\":2");
        FeedClient other = feeds.open(topic);
        assertThatThrownBy(() -> other.load(state.replace("\"version\":2", "\"version\":1")))
                .isInstanceOf(StateMismatchException.class)
                .hasMessageContainingAll("epoch 1", "has version 2 here", "the state has version 1");
        assertThat(read(other)).isEqualTo(expected(0, 1));
    }

    @Test
    void whoOnlyLooksSeesTheNewestEpoch() {
        writeAll(1, 3);
        FeedClient feed = feeds.open(topic);
        assertThat(feed.info().version()).isEqualTo(3);
        assertThat(read(feed)).isEqualTo(expected(0, 1));
    }

    @Test
    void anEpochIsWaitedForAndWhatIsBeforeItIsCommitted() throws InterruptedException {
        writeAll(1);
        int ended = topic.partitions.get(2).size();
        FeedClient feed = feeds.open(topic);
        // The second half is left.
        feed.epoch().next();
        Thread feeder = new Thread(() -> {
            Waiting.until(() -> {
                synchronized (topic) {
                    return topic.committed.getOrDefault(2, 0L) == ended && topic.committed.size() == 4;
                }
            });
            write(1, 2);
        });
        feeder.start();
        assertThat(read(feed)).isEqualTo(expected(1, 2));
        feeder.join();
    }

    @Test
    void anEpochThatDoesNotBeginIsNamed() {
        writeAll(1);
        FeedClient feed = feeds.open(client(topic).timeouts(t -> t.batchTimeout(Duration.ofMillis(300))));
        feed.setEpoch(1);
        assertThatThrownBy(feed::epoch)
                .isInstanceOf(BatchTimeoutException.class)
                .hasMessageContainingAll("epoch 1 did not begin", "--throttle-groups");
    }

    @Test
    void anEpochWhoseBeginningIsDeletedIsReadOn() {
        writeAll(1, 2);
        FeedClient first = feeds.open(topic);
        read(first);
        String state = null;
        Iteration epoch = first.epoch();
        for (int i = 0; i < 12; i++) {
            state = epoch.next().state();
        }
        synchronized (topic) {
            topic.begin = topic.partitions.get(0).size() / 2 + 1L;
        }
        FeedClient feed = feeds.open(topic);
        feed.load(state);
        List<String> expected = expected(1, 2);
        assertThat(read(feed)).isEqualTo(expected.subList(12, expected.size()));
    }

    @Test
    void aRecordOfAnotherFeedIsRefused() {
        writeAll(1);
        FakeTopic wrong = new FakeTopic(VERSIONS.get(0), 1).write(VERSIONS.get(2), 3, 1);
        int at = topic.partitions.get(1).size() + 1;
        write(1, 2);
        topic.partitions.get(1).set(at, wrong.partitions.get(1).get(1));
        FeedClient feed = feeds.open(topic);
        assertThat(read(feed)).isEqualTo(expected(0, 1));
        assertThatThrownBy(() -> read(feed))
                .isInstanceOf(StateMismatchException.class)
                .hasMessageContainingAll("partition 1", "belongs to another feed");
    }
}
