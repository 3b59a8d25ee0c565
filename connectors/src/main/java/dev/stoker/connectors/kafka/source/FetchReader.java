package dev.stoker.connectors.kafka.source;

import dev.stoker.connectors.kafka.PartitionFetch;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Properties;
import org.apache.flink.api.connector.source.SourceOutput;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.base.source.reader.RecordEmitter;
import org.apache.flink.connector.base.source.reader.SingleThreadMultiplexSourceReaderBase;
import org.apache.flink.connector.base.source.reader.splitreader.SplitReader;
import org.apache.flink.connector.kafka.source.metrics.KafkaSourceReaderMetrics;
import org.apache.flink.connector.kafka.source.reader.KafkaPartitionSplitReader;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplitState;
import org.apache.flink.metrics.Counter;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * Reads partitions of a topic and emits whole fetches. Flink's Kafka reader emits single records, which costs more for
 * small records than packing them. One fetcher thread polls the consumer; the task's thread does everything else.
 */
@SuppressWarnings("try") // the interface declares that close may be interrupted
final class FetchReader
        extends SingleThreadMultiplexSourceReaderBase<
                PartitionFetch, PartitionFetch, KafkaPartitionSplit, KafkaPartitionSplitState> {

    private FetchReader(Properties consumer, KafkaSourceReaderMetrics metrics, SourceReaderContext context) {
        super(
                () -> {
                    ReadPositions positions = new ReadPositions();
                    return new FetchSplits(splits(positions.of(consumer), metrics, context), positions);
                },
                new Emitter(context.metricGroup().getIOMetricGroup().getNumRecordsInCounter()),
                new Configuration(),
                context);
    }

    /** @param consumer its settings, with deserializers that return views of a fetch */
    static FetchReader of(Properties consumer, SourceReaderContext context) {
        return new FetchReader(consumer, new KafkaSourceReaderMetrics(context.metricGroup()), context);
    }

    /** The settings determine the types of the records; Kafka's reader never looks at keys and values. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    private static SplitReader<ConsumerRecord<ByteBuffer, ByteBuffer>, KafkaPartitionSplit> splits(
            Properties consumer, KafkaSourceReaderMetrics metrics, SourceReaderContext context) {
        return (SplitReader) new KafkaPartitionSplitReader(consumer, context, metrics);
    }

    @Override
    protected void onSplitFinished(Map<String, KafkaPartitionSplitState> finished) {}

    @Override
    protected KafkaPartitionSplitState initializedState(KafkaPartitionSplit split) {
        return new KafkaPartitionSplitState(split);
    }

    @Override
    protected KafkaPartitionSplit toSplitType(String id, KafkaPartitionSplitState state) {
        return state.toKafkaPartitionSplit();
    }

    /**
     * Emits a fetch, then advances the split behind it.
     *
     * @param records counts records; Flink itself counts a fetch as one
     */
    record Emitter(Counter records) implements RecordEmitter<PartitionFetch, PartitionFetch, KafkaPartitionSplitState> {

        @Override
        public void emitRecord(
                PartitionFetch fetch, SourceOutput<PartitionFetch> output, KafkaPartitionSplitState split) {
            output.collect(fetch);
            split.setCurrentOffset(fetch.end());
            records.inc(fetch.records().size() - 1L);
        }
    }
}
