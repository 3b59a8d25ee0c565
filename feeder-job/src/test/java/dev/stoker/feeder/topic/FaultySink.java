package dev.stoker.feeder.topic;

import dev.stoker.connectors.kafka.TopicRecord;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.api.connector.sink2.CommitterInitContext;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.StatefulSinkWriter;
import org.apache.flink.api.connector.sink2.SupportsCommitter;
import org.apache.flink.api.connector.sink2.SupportsWriterState;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.flink.connector.kafka.sink.KafkaWriterState;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.streaming.api.connector.sink2.CommittableMessage;
import org.apache.flink.streaming.api.connector.sink2.SupportsPostCommitTopology;
import org.apache.flink.streaming.api.datastream.DataStream;

/**
 * The transactional sink of a topic, with faults between a checkpoint and its commit. All tasks of the process share
 * it.
 */
final class FaultySink
        implements Sink<TopicRecord>,
                SupportsWriterState<TopicRecord, KafkaWriterState>,
                SupportsCommitter<KafkaCommittable>,
                SupportsPostCommitTopology<KafkaCommittable> {
    private static final long serialVersionUID = 1;

    /** A fault that is injected. */
    interface Fault {
        /** @param ids ids of the transactions that are about to be committed */
        void before(List<String> ids) throws Exception;
    }

    static volatile Fault fault = ids -> {};

    private final Sink<TopicRecord> sink;

    FaultySink(Sink<TopicRecord> sink) {
        this.sink = sink;
    }

    @SuppressWarnings("unchecked")
    private SupportsWriterState<TopicRecord, KafkaWriterState> writing() {
        return (SupportsWriterState<TopicRecord, KafkaWriterState>) sink;
    }

    @SuppressWarnings("unchecked")
    private SupportsCommitter<KafkaCommittable> committing() {
        return (SupportsCommitter<KafkaCommittable>) sink;
    }

    @Override
    public SinkWriter<TopicRecord> createWriter(WriterInitContext context) throws IOException {
        return sink.createWriter(context);
    }

    @Override
    public StatefulSinkWriter<TopicRecord, KafkaWriterState> restoreWriter(
            WriterInitContext context, Collection<KafkaWriterState> states) throws IOException {
        return writing().restoreWriter(context, states);
    }

    @Override
    public SimpleVersionedSerializer<KafkaWriterState> getWriterStateSerializer() {
        return writing().getWriterStateSerializer();
    }

    @Override
    public SimpleVersionedSerializer<KafkaCommittable> getCommittableSerializer() {
        return committing().getCommittableSerializer();
    }

    @Override
    public Committer<KafkaCommittable> createCommitter(CommitterInitContext context) throws IOException {
        return new FaultyCommitter(committing().createCommitter(context));
    }

    @Override
    @SuppressWarnings("unchecked")
    public void addPostCommitTopology(DataStream<CommittableMessage<KafkaCommittable>> committables) {
        ((SupportsPostCommitTopology<KafkaCommittable>) sink).addPostCommitTopology(committables);
    }

    @SuppressWarnings("try") // that close may be interrupted is the interface's word
    private static final class FaultyCommitter implements Committer<KafkaCommittable> {
        private final Committer<KafkaCommittable> committer;

        FaultyCommitter(Committer<KafkaCommittable> committer) {
            this.committer = committer;
        }

        @Override
        public void commit(Collection<CommitRequest<KafkaCommittable>> requests)
                throws IOException, InterruptedException {
            List<String> ids = requests.stream()
                    .map(CommitRequest::getCommittable)
                    // Committables of a state have none: they are not between a checkpoint and its commit.
                    .filter(committable -> committable.getProducer().isPresent())
                    .map(KafkaCommittable::getTransactionalId)
                    .toList();
            try {
                if (!ids.isEmpty()) {
                    fault.before(ids);
                }
            } catch (Exception e) {
                throw new IOException(e);
            }
            committer.commit(requests);
        }

        @Override
        public void close() throws Exception {
            committer.close();
        }
    }
}
