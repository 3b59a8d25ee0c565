package dev.stoker.client;

import dev.stoker.client.errors.CorruptBatchException;
import dev.stoker.client.errors.StateMismatchException;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** The same for a topic with one sample per record; and faults of such records. */
class SampleTopicErrorsTest extends TopicErrorsTest {
    @Override
    FakeTopic topic(FakeStream stream) {
        return new FakeTopic(stream, 1, SampleTopicClientTest.VALUES);
    }

    @Test
    void aValueThatIsNoSampleIsNamed() throws Exception {
        for (UnaryOperator<byte[]> damage : List.<UnaryOperator<byte[]>>of(
                value -> Arrays.copyOf(value, value.length - 1),
                value -> Arrays.copyOf(value, value.length + 1),
                value -> new byte[value.length],
                value -> new byte[0])) {
            topic.write(0);
            SampleTopicClientTest.change(topic, 1, 3, damage, 1, 0);
            fails(
                    topic,
                    CorruptBatchException.class,
                    "topic photos at broker:9092, partition 1, offset 3 is corrupt: ",
                    "feed the epoch again into a new topic");
            topic.partitions.forEach(List::clear);
        }
    }

    @Test
    void aSampleOfAnotherSchemaIsNamed() throws Exception {
        topic.write(0);
        SampleTopicClientTest.change(
                topic,
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
                CorruptBatchException.class,
                "partition 1, offset 3 is corrupt: what a value begins with",
                "schema " + 0x01020377,
                "0 and " + 0x01020378);
    }

    @Test
    void aRecordOfSeveralSamplesIsNamed() throws Exception {
        topic.write(0);
        SampleTopicClientTest.change(topic, 1, 1, value -> value, 2, 0);
        SampleTopicClientTest.change(topic, 1, 2, value -> value, 0, 0);
        fails(
                topic,
                CorruptBatchException.class,
                "partition 1, offset 1",
                "expected a record of one sample, found 2 rows");
    }

    @Test
    void recordsOfBatchesAmongSamplesAreRefused() {
        topic.write(0);
        FakeTopic.Content batch =
                new FakeTopic(TopicClientTest.STREAM, 1).records(0, 2).get(1);
        topic.partitions.get(2).set(1, batch);
        fails(
                topic,
                StateMismatchException.class,
                "partition 2, offset 1: ",
                "--value-format arrow, the other records of this feed with avro");
    }
}
