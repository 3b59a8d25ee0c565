package dev.stoker.client;

import static dev.stoker.client.TopicFeeds.client;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.client.errors.BatchTimeoutException;
import dev.stoker.client.errors.FeedException;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.TailPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * After an exception, an iteration continues with the batch that was not handed out, and so does the next one. It never
 * simply ends.
 */
@Timeout(60)
class AfterExceptionTest {
    private static final FakeStream STREAM = TopicFeeds.stream(4, 23, 17, 9, 30);

    @RegisterExtension
    final TopicFeeds feeds = new TopicFeeds();

    private final FakeTopic topic = new FakeTopic(STREAM, 1);
    private List<FakeTopic.Content> log;
    private List<FakeTopic.Content> rest;

    private FeedClientBuilder withholding() {
        topic.write(0, 1);
        log = topic.partitions.get(2);
        rest = new ArrayList<>(log.subList(2, log.size()));
        log.subList(2, log.size()).clear();
        return client(topic).timeouts(t -> t.batchTimeout(Duration.ofMillis(300)));
    }

    private void release() {
        synchronized (topic) {
            log.addAll(rest);
        }
    }

    private static void readUntilLate(Iterator<Batch> batches, List<String> read) {
        assertThatThrownBy(() -> {
                    while (batches.hasNext()) {
                        read.add(FakeStream.text(batches.next()));
                    }
                })
                .isInstanceOf(BatchTimeoutException.class);
    }

    private static List<String> all(FeedClientBuilder builder) {
        try (FeedClient feed = builder.open()) {
            return FakeStream.read(feed);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void theSameIterationGoesOn(int concat) {
        List<String> expected = all(client(new FakeTopic(STREAM, 1).write(0, 1)).steps(s -> s.concat(concat)));
        FeedClient feed = feeds.open(withholding().steps(s -> s.concat(concat)));
        List<String> read = new ArrayList<>();
        Iteration epoch = feed.epoch();
        readUntilLate(epoch, read);
        readUntilLate(epoch, read);
        release();
        epoch.forEachRemaining(batch -> read.add(FakeStream.text(batch)));
        assertThat(read).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void theNextIterationGoesOnAtTheSameBatch(int concat) {
        List<String> expected = all(client(new FakeTopic(STREAM, 1).write(0, 1)).steps(s -> s.concat(concat)));
        FeedClient feed = feeds.open(withholding().steps(s -> s.concat(concat)));
        List<String> read = new ArrayList<>();
        readUntilLate(feed.epoch(), read);
        String state = feed.state();
        readUntilLate(feed.epoch(), read);
        assertThat(feed.state()).isEqualTo(state);
        release();
        read.addAll(FakeStream.read(feed));
        assertThat(read).isEqualTo(expected);
        assertThat(feed.epoch().number()).isEqualTo(1);
    }

    @Test
    void allEpochsGoOnAtTheSameBatch() {
        List<String> expected = new ArrayList<>();
        for (int epoch = 0; epoch < 2; epoch++) {
            expected.addAll(STREAM.expected(epoch, TailPolicy.PAD, Participant.rank(0, 1), 0));
        }
        FeedClient feed = feeds.open(withholding().epochs(2));
        List<String> read = new ArrayList<>();
        Iterator<Batch> batches = feed.batches().iterator();
        readUntilLate(batches, read);
        readUntilLate(batches, read);
        release();
        batches.forEachRemaining(batch -> read.add(FakeStream.text(batch)));
        assertThat(read).isEqualTo(expected);
    }

    @Test
    void anIterationThatFailedAndWasReplacedDoesNotClaimItsEnd() {
        FeedClient feed = feeds.open(withholding());
        Iteration epoch = feed.epoch();
        readUntilLate(epoch, new ArrayList<>());
        feed.setEpoch(3);
        assertThatThrownBy(epoch::hasNext)
                .isInstanceOf(FeedException.class)
                .hasMessageContaining("another iteration was begun");
    }
}
