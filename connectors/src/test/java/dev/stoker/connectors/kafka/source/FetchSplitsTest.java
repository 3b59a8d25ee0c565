package dev.stoker.connectors.kafka.source;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.connectors.kafka.PartitionFetch;
import dev.stoker.connectors.kafka.SourceRecord;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.connector.source.SourceOutput;
import org.apache.flink.connector.base.source.reader.RecordsBySplits;
import org.apache.flink.connector.base.source.reader.RecordsWithSplitIds;
import org.apache.flink.connector.base.source.reader.splitreader.SplitReader;
import org.apache.flink.connector.base.source.reader.splitreader.SplitsAddition;
import org.apache.flink.connector.base.source.reader.splitreader.SplitsChange;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplitState;
import org.apache.flink.metrics.SimpleCounter;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class FetchSplitsTest {

    private static final List<TopicPartition> PLACES =
            List.of(new TopicPartition("t", 0), new TopicPartition("t", 1), new TopicPartition("t", 2));
    private static final ByteBuffer FETCH = ByteBuffer.wrap("..key1value1..".getBytes(UTF_8));

    @Test
    void handsOnAllRecordsOfAPartitionTogether() throws Exception {
        ConsumerRecord<ByteBuffer, ByteBuffer> tombstone = new ConsumerRecord<>("t", 1, 9, FETCH.slice(2, 4), null);
        tombstone.headers().add("h", new byte[] {7}).add("none", (byte[]) null);
        RecordsWithSplitIds<PartitionFetch> fetches = polled(
                Map.of("t-0", List.of(record(0, 5), record(0, 6), record(0, 8)), "t-1", List.of(tombstone)),
                Set.of("t-1", "t-2"));

        List<PartitionFetch> found = new ArrayList<>();
        for (String split = fetches.nextSplit(); split != null; split = fetches.nextSplit()) {
            PartitionFetch fetch = fetches.nextRecordFromSplit();
            assertThat(split).isEqualTo("t-" + fetch.partition());
            assertThat(fetches.nextRecordFromSplit()).isNull();
            found.add(fetch);
        }
        assertThat(fetches.finishedSplits()).containsExactlyInAnyOrder("t-1", "t-2");
        found.sort(Comparator.comparing(PartitionFetch::partition));
        assertThat(found).extracting(PartitionFetch::end).containsExactly(9L, 10L);
        assertThat(found.get(0).records()).extracting(SourceRecord::offset).containsExactly(5L, 6L, 8L);
        assertThat(found.get(0).records()).allSatisfy(record -> {
            assertThat(record.key()).isEqualTo(ByteBuffer.wrap("key1".getBytes(UTF_8)));
            assertThat(record.value()).isEqualTo(ByteBuffer.wrap("value1".getBytes(UTF_8)));
            assertThat(record.value().array()).as("not copied").isSameAs(FETCH.array());
            assertThat(record.size()).isEqualTo(10);
        });
        SourceRecord last = found.get(1).records().get(0);
        assertThat(last.value()).isNull();
        assertThat(last.header("h")).hasValue(new byte[] {7});
        assertThat(last.header("none")).isEmpty();
    }

    @Test
    void emitsNothingForAPartitionWithoutRecords() throws Exception {
        RecordsWithSplitIds<PartitionFetch> fetches = polled(Map.of("t-0", List.of()), Set.of("t-0"));
        assertThat(fetches.nextSplit()).isEqualTo("t-0");
        assertThat(fetches.nextRecordFromSplit()).isNull();
        assertThat(fetches.nextSplit()).isNull();
    }

    @Test
    void endsAtThePositionOfTheConsumerWhichIsBehindMarkersAndAbortedRecords() throws Exception {
        ReadPositions positions = new ReadPositions();
        RecordsBySplits.Builder<ConsumerRecord<ByteBuffer, ByteBuffer>> polled = new RecordsBySplits.Builder<>();
        polled.addAll("t-0", List.of(record(0, 5), record(0, 6)));
        polled.addAll("t-2", List.of(record(2, 5)));
        FetchSplits splits = new FetchSplits(new Reader(polled.build()), positions);
        splits.handleSplitsChanges(new SplitsAddition<>(
                List.of(new KafkaPartitionSplit(PLACES.get(2), 0, 6), new KafkaPartitionSplit(PLACES.get(0), 0))));
        positions.note(PLACES.get(0), 8);
        positions.note(PLACES.get(1), 20);
        positions.note(PLACES.get(2), 9);

        RecordsWithSplitIds<PartitionFetch> fetches = splits.fetch();
        Map<String, PartitionFetch> found = new TreeMap<>();
        for (String split = fetches.nextSplit(); split != null; split = fetches.nextSplit()) {
            found.put(split, fetches.nextRecordFromSplit());
            assertThat(fetches.nextRecordFromSplit()).isNull();
        }
        assertThat(found.keySet()).containsExactly("t-0", "t-1", "t-2");
        assertThat(found.get("t-0").end()).isEqualTo(8);
        assertThat(found.get("t-1")).isEqualTo(new PartitionFetch(1, List.of(), 20));
        assertThat(found.get("t-2").end())
                .as("the reader drops records behind the end of a split")
                .isEqualTo(6);
        assertThat(splits.fetch().nextSplit()).as("a position is told once").isNull();
    }

    @Test
    void aConsumerNotesItsPositionsBesidesTheInterceptorsOfTheUser() {
        Properties own = new Properties();
        own.setProperty("interceptor.classes", "of.a.User");
        ReadPositions positions = new ReadPositions();
        Properties settings = positions.of(own);
        assertThat(settings.getProperty("interceptor.classes"))
                .isEqualTo("of.a.User," + ReadPositions.Interceptor.class.getName());
        assertThat(own).hasSize(1);

        ReadPositions.Interceptor interceptor = new ReadPositions.Interceptor();
        Map<String, Object> seen = new HashMap<>();
        settings.forEach((name, value) -> seen.put(name.toString(), value));
        interceptor.configure(seen);
        interceptor.onConsume(
                new ConsumerRecords<>(Map.of(), Map.of(PLACES.get(1), new OffsetAndMetadata(7, Optional.empty(), ""))));
        assertThat(positions.take()).isEqualTo(Map.of(PLACES.get(1), 7L));
        assertThat(positions.take()).isEmpty();
    }

    @Test
    void continuesBehindAnEmittedFetchAndCountsItsRecords() {
        KafkaPartitionSplitState split =
                new KafkaPartitionSplitState(new KafkaPartitionSplit(new TopicPartition("t", 0), 3, 20));
        SimpleCounter records = new SimpleCounter();
        Output output = new Output(new ArrayList<>());
        PartitionFetch fetch = new PartitionFetch(
                0,
                List.of(
                        new SourceRecord(0, 5, -1, null, null, List.of()),
                        new SourceRecord(0, 8, -1, null, null, List.of())),
                11);

        new FetchReader.Emitter(records).emitRecord(fetch, output, split);

        assertThat(output.fetches()).containsExactly(fetch);
        assertThat(split.toKafkaPartitionSplit().getStartingOffset()).isEqualTo(11);
        assertThat(split.toKafkaPartitionSplit().getStoppingOffset()).hasValue(20L);
        assertThat(records.getCount())
                .as("besides the element, which Flink counts")
                .isEqualTo(1);
    }

    private static ConsumerRecord<ByteBuffer, ByteBuffer> record(int partition, long offset) {
        return new ConsumerRecord<>("t", partition, offset, FETCH.slice(2, 4), FETCH.slice(6, 6));
    }

    private static RecordsWithSplitIds<PartitionFetch> polled(
            Map<String, List<ConsumerRecord<ByteBuffer, ByteBuffer>>> records, Set<String> finished) throws Exception {
        RecordsBySplits.Builder<ConsumerRecord<ByteBuffer, ByteBuffer>> polled = new RecordsBySplits.Builder<>();
        records.forEach(polled::addAll);
        polled.addFinishedSplits(finished);
        return new FetchSplits(new Reader(polled.build()), new ReadPositions()).fetch();
    }

    /** Returns the records of one poll. */
    private record Reader(RecordsWithSplitIds<ConsumerRecord<ByteBuffer, ByteBuffer>> polled)
            implements SplitReader<ConsumerRecord<ByteBuffer, ByteBuffer>, KafkaPartitionSplit> {

        @Override
        public RecordsWithSplitIds<ConsumerRecord<ByteBuffer, ByteBuffer>> fetch() {
            return polled;
        }

        @Override
        public void handleSplitsChanges(SplitsChange<KafkaPartitionSplit> change) {}

        @Override
        public void wakeUp() {}

        @Override
        public void close() {}
    }

    /** Collects the emitted fetches. */
    private record Output(List<PartitionFetch> fetches) implements SourceOutput<PartitionFetch> {

        @Override
        public void collect(PartitionFetch fetch) {
            fetches.add(fetch);
        }

        @Override
        public void collect(PartitionFetch fetch, long timestamp) {
            fetches.add(fetch);
        }

        @Override
        public void emitWatermark(Watermark watermark) {}

        @Override
        public void markIdle() {}

        @Override
        public void markActive() {}
    }
}
