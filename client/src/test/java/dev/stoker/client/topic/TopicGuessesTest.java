package dev.stoker.client.topic;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.client.FakeStream;
import dev.stoker.client.FakeTopic;
import dev.stoker.client.TopicFeeds;
import dev.stoker.schemas.kafka.RecordPosition;
import dev.stoker.schemas.kafka.TopicInfo;
import dev.stoker.schemas.order.LaneOrder;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.testing.Rounds;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Guesses of a position's offset from seen records. */
class TopicGuessesTest {
    private static final TopicTarget TARGET = TopicTarget.parse("kafka://broker:9092/photos");

    private static TopicGuesses guesses(FakeTopic topic) throws Exception {
        return new TopicGuesses(TopicInfo.read(topic.partitions.get(0).get(0).value(), "here"));
    }

    private static List<VerifiedRecord> records(FakeTopic topic, int lane) {
        List<VerifiedRecord> records = new ArrayList<>();
        for (FakeTopic.Content content : topic.partitions.get(lane)) {
            records.add(VerifiedRecord.of(
                    TARGET, new TopicLog.Entry(lane, records.size(), content.headers(), content.value())));
        }
        return records;
    }

    @ParameterizedTest
    @EnumSource(LaneOrder.class)
    void theRecordsBeforeAPositionAreCounted(LaneOrder order, TestInfo test) {
        Rounds.of(test).seconds(0.3).atLeast(10).run((draw, round) -> {
            long[] rows = draw.longs(1 + draw.nextInt(6), 0, 50).toArray();
            rows[0]++;
            OrderSpec d = OrderSpec.defaults();
            OrderSpec spec =
                    new OrderSpec(round, 1 + draw.nextInt(8), rows.length, d.shuffleWindowBytes(), d.shuffle(), order);
            FakeTopic topic =
                    new FakeTopic(new FakeStream(spec, rows, "00112233445566778899aabbccddeeff"), 1).write(0, 1);
            TopicGuesses guesses = guesses(topic);
            for (int lane = 0; lane < rows.length; lane++) {
                for (VerifiedRecord record : records(topic, lane)) {
                    assertThat(guesses.offset(lane, record.position()))
                            .as(record.position().toString())
                            .isEqualTo(record.offset());
                }
            }
        });
    }

    @Test
    void partsAreCountedOnceAPieceWasSeen() throws Exception {
        FakeTopic topic = new FakeTopic(TopicFeeds.stream(4, 23, 16, 12, 28), 3).write(0, 1);
        TopicGuesses guesses = guesses(topic);
        guesses.saw(records(topic, 2).get(3));
        for (int lane = 0; lane < 4; lane++) {
            List<VerifiedRecord> records = records(topic, lane);
            guesses.saw(records.get(0));
            for (VerifiedRecord record : records) {
                assertThat(guesses.offset(lane, record.position())).isEqualTo(record.offset());
            }
        }
    }

    @Test
    void whatWasSeenCorrectsTheGuess() throws Exception {
        FakeTopic topic = new FakeTopic(TopicFeeds.stream(4, 400, 400), 1).write(0);
        TopicGuesses guesses = guesses(topic);
        List<VerifiedRecord> records = records(topic, 0);
        RecordPosition wanted = records.get(61).position();
        assertThat(guesses.offset(0, wanted)).isEqualTo(61);
        // Others stand before it, as where an older feed has written.
        guesses.saw(new VerifiedRecord(records.get(51).header(), 551, new byte[0]));
        assertThat(guesses.offset(0, wanted)).isEqualTo(561);
        // A marker of a transaction stands behind each record.
        guesses.saw(new VerifiedRecord(records.get(91).header(), 631, new byte[0]));
        assertThat(guesses.offset(0, wanted)).isEqualTo(571 - 2);
        assertThat(guesses.offset(1, wanted)).isBetween(0L, 4 * 61L);
    }
}
