package dev.stoker.client;

import static dev.stoker.client.FakeStream.read;
import static dev.stoker.client.TopicFeeds.client;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.client.errors.DamagedBatchException;
import dev.stoker.client.errors.StateMismatchException;
import dev.stoker.schemas.kafka.RecordHeader;
import dev.stoker.schemas.kafka.TopicInfo;
import dev.stoker.schemas.kafka.ValueFormat;
import dev.stoker.schemas.order.TailPolicy;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** The same for a topic with one sample per record, framed with a schema registry's id; and faults of such records. */
class SampleTopicClientTest extends TopicClientTest {
    private static final TopicInfo.Values VALUES = new TopicInfo.Values(ValueFormat.AVRO, OptionalInt.of(0x01020377));

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
    private void change(int lane, int offset, UnaryOperator<byte[]> value, int rows, int skipped) throws Exception {
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
        change(0, 2, value -> new byte[0], 0, 1);
        int rows = 0;
        int skipped = 0;
        for (Batch batch : feeds.open(client(topic).tail(TailPolicy.KEEP)).epoch()) {
            rows += batch.rows();
            skipped += batch.skipped();
            assertThat(batch.keys()).hasSize(batch.rows());
        }
        assertThat(rows).isEqualTo(23 + 17 + 9 + 30 - 1);
        assertThat(skipped).isEqualTo(1);
    }

    @Test
    void aValueThatIsNoSampleIsNamed() throws Exception {
        for (UnaryOperator<byte[]> damage : List.<UnaryOperator<byte[]>>of(
                value -> Arrays.copyOf(value, value.length - 1),
                value -> Arrays.copyOf(value, value.length + 1),
                value -> new byte[value.length],
                value -> new byte[0])) {
            topic.write(0);
            change(1, 3, damage, 1, 0);
            fails(
                    topic,
                    DamagedBatchException.class,
                    "topic photos at broker:9092, partition 1, offset 3 is corrupt: ",
                    "feed the epoch again into a new topic");
            topic.partitions.forEach(List::clear);
        }
    }

    @Test
    void aSampleOfAnotherSchemaIsNamed() throws Exception {
        topic.write(0);
        change(
                1,
                3,
                value -> {
                    byte[] other = value.clone();
                    other[4]++;
                    return other;
                },
                1,
                0);
        fails(
                topic,
                DamagedBatchException.class,
                "partition 1, offset 3 is corrupt: what a value begins with",
                "schema " + 0x01020377,
                "0 and " + 0x01020378);
    }

    @Test
    void aRecordOfSeveralSamplesIsNamed() throws Exception {
        topic.write(0);
        change(1, 1, value -> value, 2, 0);
        change(1, 2, value -> value, 0, 0);
        fails(
                topic,
                DamagedBatchException.class,
                "partition 1, offset 1",
                "expected a record of one sample, found 2 rows");
    }

    @Test
    void recordsOfBatchesAmongSamplesAreRefused() {
        topic.write(0);
        FakeTopic.Content batch = new FakeTopic(STREAM, 1).records(0, 2).get(1);
        topic.partitions.get(2).set(1, batch);
        fails(
                topic,
                StateMismatchException.class,
                "partition 2, offset 1: ",
                "--value-format arrow, the other records of this feed with avro");
    }
}
