package dev.stoker.client;

import static dev.stoker.client.FakeStream.read;
import static dev.stoker.client.TopicFeeds.client;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.kafka.RecordHeader;
import dev.stoker.schemas.kafka.TopicInfo;
import dev.stoker.schemas.kafka.ValueFormat;
import dev.stoker.schemas.order.delivery.TailPolicy;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** The same for a topic with one sample per record, framed with a schema registry's id. */
class SampleTopicClientTest extends TopicClientTest {
    static final TopicInfo.Values VALUES = new TopicInfo.Values(ValueFormat.AVRO, OptionalInt.of(0x01020377));

    @Override
    FakeTopic topic(FakeStream stream, int parts) {
        return new FakeTopic(stream, parts, VALUES);
    }

    @Test
    void samplesWithoutAnIdMakeTheSameBatches() {
        FakeTopic plain = new FakeTopic(STREAM, 1, new TopicInfo.Values(ValueFormat.AVRO, OptionalInt.empty()));
        assertThat(read(feeds.open(plain.write(0)))).isEqualTo(expected(0, ALONE, 0));
    }

    /** Puts something else in the place of a record, with its checksum. */
    static void change(FakeTopic topic, int lane, int offset, UnaryOperator<byte[]> value, int rows, int skipped)
            throws Exception {
        List<FakeTopic.Content> log = topic.partitions.get(lane);
        FakeTopic.Content was = log.get(offset);
        RecordHeader h = RecordHeader.read(was.headers(), was.value(), "here");
        RecordHeader header = new RecordHeader(
                        h.kind(),
                        h.fingerprint(),
                        h.version(),
                        h.epoch(),
                        h.batch(),
                        h.lane(),
                        h.piece(),
                        h.pieces(),
                        h.part(),
                        h.parts(),
                        rows,
                        skipped)
                .with(h.values(), h.row());
        log.set(offset, FakeTopic.content(header, value.apply(was.value())));
    }

    @Test
    void aSampleThatWasLeftOutIsCounted() throws Exception {
        topic.write(0);
        change(topic, 0, 2, value -> new byte[0], 0, 1);
        int rows = 0;
        int skipped = 0;
        for (Batch batch :
                feeds.open(client(topic).steps(s -> s.tail(TailPolicy.KEEP))).epoch()) {
            rows += batch.rows();
            skipped += batch.skipped();
            assertThat(batch.keys()).hasSize(batch.rows());
        }
        assertThat(rows).isEqualTo(23 + 17 + 9 + 30 - 1);
        assertThat(skipped).isEqualTo(1);
    }
}
