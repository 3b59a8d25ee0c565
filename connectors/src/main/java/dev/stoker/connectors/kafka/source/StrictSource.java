package dev.stoker.connectors.kafka.source;

import dev.stoker.connectors.kafka.BrokerErrors;
import dev.stoker.connectors.kafka.PartitionFetch;
import dev.stoker.connectors.kafka.PartitionFetchSerializer;
import java.util.Collection;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.java.typeutils.ResultTypeQueryable;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.KafkaSourceEnumState;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * Kafka's source with a reader that hands on whole fetches. Ends the job if brokers refuse a request permanently.
 */
final class StrictSource
        implements Source<PartitionFetch, KafkaPartitionSplit, KafkaSourceEnumState>,
                ResultTypeQueryable<PartitionFetch> {
    private static final long serialVersionUID = 1;

    private final KafkaSource<?> source;
    private final Properties consumer;
    private final String where;

    /**
     * @param source of which only splits and enumerator are used
     * @param consumer settings of the readers' consumers
     * @param where topic and brokers, for messages
     */
    StrictSource(KafkaSource<?> source, Properties consumer, String where) {
        this.source = source;
        this.consumer = consumer;
        this.where = where;
    }

    @Override
    public Boundedness getBoundedness() {
        return source.getBoundedness();
    }

    @Override
    public TypeInformation<PartitionFetch> getProducedType() {
        return PartitionFetchSerializer.TYPE;
    }

    @Override
    public SourceReader<PartitionFetch, KafkaPartitionSplit> createReader(SourceReaderContext context) {
        return new Reader(FetchReader.of(consumer, context), where);
    }

    @Override
    public SplitEnumerator<KafkaPartitionSplit, KafkaSourceEnumState> createEnumerator(
            SplitEnumeratorContext<KafkaPartitionSplit> context) {
        return source.createEnumerator(new StrictCoordination(context, where));
    }

    @Override
    public SplitEnumerator<KafkaPartitionSplit, KafkaSourceEnumState> restoreEnumerator(
            SplitEnumeratorContext<KafkaPartitionSplit> context, KafkaSourceEnumState state) throws Exception {
        return source.restoreEnumerator(new StrictCoordination(context, where), state);
    }

    @Override
    public SimpleVersionedSerializer<KafkaPartitionSplit> getSplitSerializer() {
        return source.getSplitSerializer();
    }

    @Override
    public SimpleVersionedSerializer<KafkaSourceEnumState> getEnumeratorCheckpointSerializer() {
        return source.getEnumeratorCheckpointSerializer();
    }

    /** A reader of fetches. Failures of its fetchers are thrown by {@link #pollNext}. */
    @SuppressWarnings("try") // the interface declares that close may be interrupted
    private record Reader(SourceReader<PartitionFetch, KafkaPartitionSplit> reader, String where)
            implements SourceReader<PartitionFetch, KafkaPartitionSplit> {

        @Override
        public void start() {
            reader.start();
        }

        @Override
        public InputStatus pollNext(ReaderOutput<PartitionFetch> output) throws Exception {
            try {
                return reader.pollNext(output);
            } catch (Exception e) {
                BrokerErrors.endIfRefused(where, e);
                throw e;
            }
        }

        @Override
        public List<KafkaPartitionSplit> snapshotState(long checkpoint) {
            return reader.snapshotState(checkpoint);
        }

        @Override
        public CompletableFuture<Void> isAvailable() {
            return reader.isAvailable();
        }

        @Override
        public void addSplits(List<KafkaPartitionSplit> splits) {
            reader.addSplits(splits);
        }

        @Override
        public void notifyNoMoreSplits() {
            reader.notifyNoMoreSplits();
        }

        @Override
        public void handleSourceEvents(SourceEvent event) {
            reader.handleSourceEvents(event);
        }

        @Override
        public void notifyCheckpointComplete(long checkpoint) throws Exception {
            reader.notifyCheckpointComplete(checkpoint);
        }

        @Override
        public void notifyCheckpointAborted(long checkpoint) throws Exception {
            reader.notifyCheckpointAborted(checkpoint);
        }

        @Override
        public void pauseOrResumeSplits(Collection<String> pause, Collection<String> resume) {
            reader.pauseOrResumeSplits(pause, resume);
        }

        @Override
        public void close() throws Exception {
            reader.close();
        }
    }
}
