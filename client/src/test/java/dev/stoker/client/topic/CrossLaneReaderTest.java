package dev.stoker.client.topic;

import static dev.stoker.client.FakeStream.read;
import static dev.stoker.client.TopicFeeds.client;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.client.FakeStream;
import dev.stoker.client.FakeTopic;
import dev.stoker.client.FeedClient;
import dev.stoker.client.TopicFeeds;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.testing.Rounds;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pieces of lanes that a trainer does not read from end to end; one lane is much longer than the others. */
@Timeout(120)
class CrossLaneReaderTest {
    private static final FakeStream STREAM = TopicFeeds.stream(4, 241, 83, 81, 82);
    private static final int RANKS = 4;

    @RegisterExtension
    final TopicFeeds feeds = new TopicFeeds();

    private FeedClient open(FakeTopic topic, int rank) {
        return feeds.open(client(topic).rank(rank, RANKS).steps(s -> s.tail(TailPolicy.KEEP)));
    }

    private static List<String> expected(long epoch, int rank) {
        return STREAM.expected(epoch, TailPolicy.KEEP, Participant.rank(rank, RANKS), 0);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void littleMoreIsReadThanIsNeeded(int parts) {
        FakeTopic topic = new FakeTopic(STREAM, parts).write(0, 1, 2);
        int longest = topic.partitions.get(0).size();
        for (int rank = 0; rank < RANKS; rank++) {
            int looks = topic.looks();
            long given = topic.given();
            FeedClient feed = open(topic, rank);
            for (int epoch = 0; epoch < 3; epoch++) {
                assertThat(read(feed)).isEqualTo(expected(epoch, rank));
            }
            // The topic's first record, where the own lane begins, and each epoch the longest lane's end, in the first
            // in two
            // pieces, and two lanes' parts of a joint batch; bisection takes five looks for each of the ten batches in
            // the longest.
            assertThat(topic.looks() - looks).as("looks").isLessThanOrEqualTo(2 + 1 + 3 * 3 + 3);
            assertThat(topic.given() - given)
                    .as("records")
                    .isLessThanOrEqualTo(topic.partitions.get(rank).size() + longest + 40);
        }
    }

    @Test
    void noMoreIsTakenAheadThanTheBufferHolds() {
        int all = looks(256 << 20);
        // Of the longest lane's last ten pieces eight at a time.
        assertThat(looks(8 << 10)).isBetween(all + 1, all + 3);
    }

    private int looks(long bufferBytes) {
        FakeTopic topic = new FakeTopic(STREAM, 1).write(0, 1);
        FeedClient feed = feeds.open(
                client(topic).rank(1, RANKS).steps(s -> s.tail(TailPolicy.KEEP)).bufferBytes(bufferBytes));
        for (int epoch = 0; epoch < 2; epoch++) {
            assertThat(read(feed)).isEqualTo(expected(epoch, 1));
        }
        return topic.looks();
    }

    @ParameterizedTest
    @ValueSource(strings = {"again", "markers", "both"})
    void wrongGuessesArePutRight(String disorder, TestInfo test) {
        Rounds.of(test).seconds(0.3).atLeast(2).run((draw, round) -> {
            FakeTopic topic = new FakeTopic(STREAM, 1 + (int) round % 2);
            for (int lane = 0; lane < topic.partitions.size(); lane++) {
                List<FakeTopic.Content> records = new ArrayList<>(topic.records(0, lane));
                records.addAll(topic.records(1, lane));
                List<FakeTopic.Content> log = topic.partitions.get(lane);
                for (int at = 0; at < records.size(); ) {
                    log.add(records.get(at++));
                    if (!disorder.equals("markers") && draw.nextInt(100) < 10) {
                        at = Math.max(0, at - 1 - draw.nextInt(11)); // restarted
                    }
                    if (!disorder.equals("again") && draw.nextInt(100) < 40) {
                        log.add(FakeTopic.Content.MARKER);
                    }
                }
            }
            for (int rank = 0; rank < RANKS; rank++) {
                FeedClient feed = open(topic, rank);
                for (int epoch = 0; epoch < 2; epoch++) {
                    assertThat(read(feed)).isEqualTo(expected(epoch, rank));
                }
            }
        });
    }
}
