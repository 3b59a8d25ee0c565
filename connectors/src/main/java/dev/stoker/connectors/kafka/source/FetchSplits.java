package dev.stoker.connectors.kafka.source;

import dev.stoker.connectors.kafka.PartitionFetch;
import dev.stoker.connectors.kafka.SourceRecord;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.apache.flink.connector.base.source.reader.RecordsWithSplitIds;
import org.apache.flink.connector.base.source.reader.splitreader.SplitReader;
import org.apache.flink.connector.base.source.reader.splitreader.SplitsChange;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * Kafka's reader of splits, which decides where a split begins and ends. Hands on all records that a poll returned for
 * a split as one element. Used by the fetcher's thread.
 *
 * @param reader of records whose keys and values are views of a fetch
 */
@SuppressWarnings("try") // the interface declares that close may be interrupted
record FetchSplits(SplitReader<ConsumerRecord<ByteBuffer, ByteBuffer>, KafkaPartitionSplit> reader)
        implements SplitReader<PartitionFetch, KafkaPartitionSplit> {

    private static final SourceRecord.Header[] NO_HEADERS = {};

    @Override
    public RecordsWithSplitIds<PartitionFetch> fetch() throws IOException {
        return new Polled(reader.fetch());
    }

    @Override
    public void handleSplitsChanges(SplitsChange<KafkaPartitionSplit> change) {
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

    /** The records of one poll. Used by the task's thread. */
    private record Polled(RecordsWithSplitIds<ConsumerRecord<ByteBuffer, ByteBuffer>> polled)
            implements RecordsWithSplitIds<PartitionFetch> {

        @Override
        public @Nullable String nextSplit() {
            return polled.nextSplit();
        }

        @Override
        public @Nullable PartitionFetch nextRecordFromSplit() {
            ConsumerRecord<ByteBuffer, ByteBuffer> next = polled.nextRecordFromSplit();
            if (next == null) {
                return null;
            }
            int partition = next.partition();
            List<SourceRecord> records = new ArrayList<>();
            while (next != null) {
                records.add(record(next, next.key(), next.value()));
                next = polled.nextRecordFromSplit();
            }
            return new PartitionFetch(partition, records);
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
