package dev.stoker.client;

import static dev.stoker.client.FakeStream.read;
import static dev.stoker.client.TopicFeeds.client;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.client.errors.FeedException;
import dev.stoker.schemas.order.EpochNumbering;
import dev.stoker.schemas.order.delivery.DeliveredPiece;
import dev.stoker.schemas.order.delivery.Delivery;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.SkipList;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.testing.Rounds;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A feed that is read from a topic: the order's batches for any layout of the topic. */
@Timeout(120)
class TopicClientTest {
    static final FakeStream STREAM = TopicFeeds.stream(4, 23, 17, 9, 30);

    @RegisterExtension
    final TopicFeeds feeds = new TopicFeeds();

    final FakeTopic topic = topic(STREAM, 1);

    /** A topic of the values that are tested. */
    FakeTopic topic(FakeStream stream, int parts) {
        return new FakeTopic(stream, parts);
    }

    static List<String> expected(long epoch, Participant participant, long start) {
        return STREAM.expected(epoch, TailPolicy.PAD, participant, start);
    }

    static final Participant ALONE = Participant.rank(0, 1);

    @ParameterizedTest
    @EnumSource(TailPolicy.class)
    void everyRankOfEveryWorldGetsItsBatchesOfEachEpoch(TailPolicy tail) {
        topic.write(0, 1, 2);
        for (int worldSize = 1; worldSize <= 4; worldSize++) {
            for (int rank = 0; rank < worldSize; rank++) {
                FeedClient feed = feeds.open(client(topic).rank(rank, worldSize).steps(s -> s.tail(tail)));
                for (int epoch = 0; epoch < 3; epoch++) {
                    assertThat(read(feed))
                            .isEqualTo(STREAM.expected(epoch, tail, Participant.rank(rank, worldSize), 0));
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(TailPolicy.class)
    void skippedBatchesAreLeftOut(TailPolicy tail) {
        topic.write(0, 1, 2);
        SkipList skip = SkipList.of(
                List.of(new SkipList.Range(0, 2, 9), new SkipList.Range(0, 15, 16), new SkipList.Range(1, 0, 30)));
        for (int rank = 0; rank < 2; rank++) {
            FeedClientBuilder builder = client(topic).rank(rank, 2).steps(s -> s.tail(tail));
            skip.ranges().forEach(range -> builder.steps(s -> s.skip(range.epoch(), range.first(), range.last())));
            FeedClient feed = feeds.open(builder);
            for (int epoch = 0; epoch < 3; epoch++) {
                assertThat(read(feed)).isEqualTo(STREAM.expected(epoch, tail, Participant.rank(rank, 2), 0, skip));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void messagesAreThoseOfSocketsByteForByteAlsoOutOfParts(int parts) {
        FakeTopic cut = topic(STREAM, parts).write(0);
        EpochNumbering numbering = STREAM.numbering(0);
        // Two ranks and an odd number of batches: the last one of rank 1 is filled up from batch 0.
        for (int rank = 0; rank < 2; rank++) {
            for (Batch batch : feeds.open(client(cut).rank(rank, 2)).epoch()) {
                List<DeliveredPiece> pieces = Delivery.batch(numbering, TailPolicy.PAD, batch.number())
                        .pieces();
                List<ByteBuffer> messages = batch.messages();
                assertThat(messages).hasSize(pieces.size());
                for (int i = 0; i < pieces.size(); i++) {
                    assertThat(bytes(messages.get(i))).isEqualTo(bytes(STREAM.message(pieces.get(i))));
                }
            }
        }
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }

    @Test
    void anErrorOfTheReceivingThreadEndsTheWait() {
        topic.write(0);
        FeedClient feed = feeds.open(client(topic).rank(0, 1).timeouts(t -> t.batchTimeout(Duration.ofMinutes(10))));
        read(feed);
        topic.error = new StackOverflowError("of a test");
        assertThatThrownBy(() -> read(feed))
                .isInstanceOf(FeedException.class)
                .hasMessageContaining("StackOverflowError: of a test");
    }

    @Test
    void goesOnAtEveryPositionAlsoInAnotherWorld() {
        topic.write(0, 1);
        List<String> states = new ArrayList<>();
        for (Batch batch : feeds.open(client(topic).rank(1, 2)).epoch()) {
            states.add(batch.state());
        }
        states.remove(states.size() - 1);
        for (int at = 0; at < states.size(); at += 3) {
            for (int rank = 0; rank < 3; rank++) {
                FeedClient feed = feeds.open(client(topic).rank(rank, 3));
                feed.load(states.get(at));
                assertThat(read(feed)).isEqualTo(expected(0, Participant.rank(rank, 3), 2L * at + 2));
                assertThat(read(feed)).isEqualTo(expected(1, Participant.rank(rank, 3), 0));
            }
        }
    }

    @Test
    void anIterationThatIsLeftEarlyIsFollowedByTheNextEpoch() {
        topic.write(0, 1);
        FeedClient feed = feeds.open(topic);
        feed.epoch().next();
        assertThat(read(feed)).isEqualTo(expected(1, ALONE, 0));
    }

    @Test
    void recordsThatComeAgainAreDropped(TestInfo test) {
        Rounds.of(test).seconds(0.5).atLeast(6).run((draw, round) -> {
            FakeTopic again = topic(STREAM, 1 + (int) round % 2);
            for (int lane = 0; lane < 4; lane++) {
                List<FakeTopic.Content> records = new ArrayList<>(again.records(0, lane));
                records.addAll(again.records(1, lane));
                List<FakeTopic.Content> log = again.partitions.get(lane);
                int at = 0;
                while (at < records.size()) {
                    log.add(records.get(at++));
                    if (draw.nextInt(100) < 15) {
                        at = Math.max(0, at - 1 - draw.nextInt(8)); // restarted
                    }
                    if (draw.nextInt(100) < 20) {
                        log.add(FakeTopic.Content.MARKER);
                    }
                }
            }
            FeedClient feed = feeds.open(again);
            int start = draw.nextInt(10);
            feed.load(feed.state().replace("\"batch\":0", "\"batch\":" + start));
            assertThat(read(feed)).isEqualTo(expected(0, ALONE, start));
            assertThat(read(feed)).isEqualTo(expected(1, ALONE, 0));
        });
    }

    @Test
    void twoWritersAtATimeAreOne() {
        for (int lane = 0; lane < 4; lane++) {
            List<FakeTopic.Content> records = topic.records(0, lane);
            List<FakeTopic.Content> log = topic.partitions.get(lane);
            int end = Math.min(5, records.size());
            log.addAll(records.subList(0, end));
            for (int i = 0; i + 2 < records.size(); i++) {
                if (end + i < Math.min(5, records.size())) {
                    log.add(records.get(end + i));
                }
                log.add(records.get(2 + i));
            }
        }
        for (int start = 0; start < 10; start++) {
            FeedClient feed = feeds.open(topic);
            feed.load(feed.state().replace("\"batch\":0", "\"batch\":" + start));
            assertThat(read(feed)).isEqualTo(expected(0, ALONE, start));
        }
    }

    @Test
    void aCommitThatIsLostIsRepeatedThoughNothingMoreIsConsumed() throws InterruptedException {
        topic.write(0);
        topic.lostCommits = 1;
        FeedClient feed = feeds.open(client(topic).group("trainers"));
        read(feed);
        synchronized (topic) {
            while (topic.committed.isEmpty()) {
                topic.wait(20);
            }
        }
        assertThat(topic.lostCommits).isZero();
    }

    @Test
    void whatIsConsumedIsCommitted() {
        topic.write(0);
        try (FeedClient feed = client(topic).group("trainers").rank(1, 2).open()) {
            read(feed);
        }
        assertThat(topic.committed).containsOnlyKeys(1, 3);
        topic.committed.forEach((lane, offset) -> {
            for (FakeTopic.Content left : topic.partitions
                    .get(lane)
                    .subList(offset.intValue(), topic.partitions.get(lane).size())) {
                assertThat(new String(left.headers().get("stoker.kind"), StandardCharsets.US_ASCII))
                        .isNotEqualTo("batch");
            }
        });
    }

    @Test
    void noMoreIsReadAheadThanTheBufferHoldsHoweverLongTheTrainerPauses() {
        FakeTopic large = topic(TopicFeeds.stream(4, 4_000, 4_000), 1).write(0);
        FeedClient feed = feeds.open(client(large).bufferBytes(64 << 10));
        Iteration epoch = feed.epoch();
        epoch.next();
        Waiting.until(() -> {
            long before = large.read();
            LockSupport.parkNanos(100_000_000);
            return large.read() == before;
        });
        assertThat(large.read()).isLessThan(200);
        long count = 1;
        while (epoch.hasNext()) {
            epoch.next().close();
            count++;
        }
        assertThat(count).isEqualTo(2_000);
    }

    @Test
    void saysWhatTheTrainerWaitedFor() {
        topic.write(0);
        FeedClient feed = feeds.open(topic);
        read(feed);
        assertThat(feed.stats().bytes()).isPositive();
        assertThat(feed.stats().causes()).containsOnlyKeys("kafka");
        assertThat(feed.report()).contains("rank 0 waited");
        assertThat(feed.info().feed()).isEqualTo("fake");
    }
}
