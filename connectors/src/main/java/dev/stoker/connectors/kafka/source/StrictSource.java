package dev.stoker.connectors.kafka.source;

import dev.stoker.connectors.kafka.BrokerErrors;
import dev.stoker.connectors.kafka.SourceRecord;
import java.util.Collection;
import java.util.List;
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

/** Kafka's source. Ends the job if brokers refuse a request permanently. */
final class StrictSource
        implements Source<SourceRecord, KafkaPartitionSplit, KafkaSourceEnumState>, ResultTypeQueryable<SourceRecord> {
    private static final long serialVersionUID = 1;

    private final KafkaSource<SourceRecord> source;
    private final String where;

    /** @param where topic and brokers, for messages */
    StrictSource(KafkaSource<SourceRecord> source, String where) {
        this.source = source;
        this.where = where;
    }

    @Override
    public Boundedness getBoundedness() {
        return source.getBoundedness();
    }

    @Override
    public TypeInformation<SourceRecord> getProducedType() {
        return source.getProducedType();
    }

    @Override
    public SourceReader<SourceRecord, KafkaPartitionSplit> createReader(SourceReaderContext context) throws Exception {
        return new Reader(source.createReader(context), where);
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

    /** Kafka's reader. Failures of its fetchers are thrown by {@link #pollNext}. */
    @SuppressWarnings("try") // the interface declares that close may be interrupted
    private record Reader(SourceReader<SourceRecord, KafkaPartitionSplit> reader, String where)
            implements SourceReader<SourceRecord, KafkaPartitionSplit> {

        @Override
        public void start() {
            reader.start();
        }

        @Override
        public InputStatus pollNext(ReaderOutput<SourceRecord> output) throws Exception {
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
