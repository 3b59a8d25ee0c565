package dev.stoker.connectors.kafka.source;

import dev.stoker.connectors.kafka.PartitionFetch;
import dev.stoker.connectors.kafka.SourceRecord;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.connector.base.source.reader.RecordsWithSplitIds;
import org.apache.flink.connector.base.source.reader.splitreader.SplitReader;
import org.apache.flink.connector.base.source.reader.splitreader.SplitsAddition;
import org.apache.flink.connector.base.source.reader.splitreader.SplitsChange;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * Kafka's reader of splits, which decides where a split begins and ends. Hands on all records that a poll returned for
 * a split as one element, with the consumer's position. A poll that has only passed markers of transactions or aborted
 * records makes an element without records. Used by the fetcher's thread.
 */
@SuppressWarnings("try") // the interface declares that close may be interrupted
final class FetchSplits implements SplitReader<PartitionFetch, KafkaPartitionSplit> {

    private static final SourceRecord.Header[] NO_HEADERS = {};

    private final SplitReader<ConsumerRecord<ByteBuffer, ByteBuffer>, KafkaPartitionSplit> reader;
    private final ReadPositions positions;
    /** The offset before which a bounded split ends. */
    private final Map<TopicPartition, Long> stops = new HashMap<>();

    /**
     * @param reader of records whose keys and values are views of a fetch
     * @param positions that the reader's consumer notes
     */
    FetchSplits(
            SplitReader<ConsumerRecord<ByteBuffer, ByteBuffer>, KafkaPartitionSplit> reader, ReadPositions positions) {
        this.reader = reader;
        this.positions = positions;
    }

    @Override
    public RecordsWithSplitIds<PartitionFetch> fetch() throws IOException {
        RecordsWithSplitIds<ConsumerRecord<ByteBuffer, ByteBuffer>> polled = reader.fetch();
        Map<String, Position> reached = new HashMap<>();
        positions.take().forEach((partition, position) -> {
            // The reader drops records behind the end of a split.
            long end = Math.min(position, stops.getOrDefault(partition, Long.MAX_VALUE));
            reached.put(KafkaPartitionSplit.toSplitId(partition), new Position(partition.partition(), end));
        });
        return new Polled(polled, reached);
    }

    @Override
    public void handleSplitsChanges(SplitsChange<KafkaPartitionSplit> change) {
        if (change instanceof SplitsAddition) {
            change.splits()
                    .forEach(split -> split.getStoppingOffset()
                            .filter(stop -> stop >= 0) // negative ones are words, such as the latest offset
                            .ifPresent(stop -> stops.put(split.getTopicPartition(), stop)));
        }
        reader.handleSplitsChanges(change);
    }

    @Override
    public void pauseOrResumeSplits(Collection<KafkaPartitionSplit> pause, Collection<KafkaPartitionSplit> resume) {
        reader.pauseOrResumeSplits(pause, resume);
    }

    @Override
    public void wakeUp() {
        reader.wakeUp();
    }

    @Override
    public void close() throws Exception {
        reader.close();
    }

    /** The consumer's position in a partition. */
    private record Position(int partition, long end) {}

    /** The records of one poll, then the partitions that moved without records. Used by the task's thread. */
    private static final class Polled implements RecordsWithSplitIds<PartitionFetch> {

        private final RecordsWithSplitIds<ConsumerRecord<ByteBuffer, ByteBuffer>> polled;
        private final Map<String, Position> reached;
        private boolean hasRecords = true;
        private @Nullable String split;

        /** @param reached positions by split */
        Polled(RecordsWithSplitIds<ConsumerRecord<ByteBuffer, ByteBuffer>> polled, Map<String, Position> reached) {
            this.polled = polled;
            this.reached = reached;
        }

        @Override
        public @Nullable String nextSplit() {
            if (hasRecords) {
                split = polled.nextSplit();
                hasRecords = split != null;
            }
            if (!hasRecords) {
                split = reached.isEmpty() ? null : reached.keySet().iterator().next();
            }
            return split;
        }

        @Override
        public @Nullable PartitionFetch nextRecordFromSplit() {
            List<SourceRecord> records = new ArrayList<>();
            ConsumerRecord<ByteBuffer, ByteBuffer> next = hasRecords ? polled.nextRecordFromSplit() : null;
            while (next != null) {
                records.add(record(next, next.key(), next.value()));
                next = polled.nextRecordFromSplit();
            }
            Position position = reached.remove(split);
            if (records.isEmpty()) {
                return position == null ? null : new PartitionFetch(position.partition(), records, position.end());
            }
            SourceRecord last = records.get(records.size() - 1);
            long end = Math.max(last.offset() + 1, position == null ? 0 : position.end());
            return new PartitionFetch(last.partition(), records, end);
        }

        @Override
        public Set<String> finishedSplits() {
            return polled.finishedSplits();
        }

        @Override
        public void recycle() {
            polled.recycle();
        }
    }

    static SourceRecord record(ConsumerRecord<?, ?> record, @Nullable ByteBuffer key, @Nullable ByteBuffer value) {
        Header[] own = record.headers().toArray();
        SourceRecord.Header[] headers = own.length == 0 ? NO_HEADERS : new SourceRecord.Header[own.length];
        for (int i = 0; i < own.length; i++) {
            headers[i] = new SourceRecord.Header(own[i].key(), own[i].value());
        }
        return new SourceRecord(record.partition(), record.offset(), record.timestamp(), key, value, List.of(headers));
    }
}
