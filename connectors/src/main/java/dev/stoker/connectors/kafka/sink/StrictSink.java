package dev.stoker.connectors.kafka.sink;

import dev.stoker.connectors.kafka.BrokerErrors;
import dev.stoker.connectors.kafka.KafkaTarget;
import dev.stoker.connectors.kafka.TopicRecord;
import dev.stoker.connectors.kafka.topic.TopicCheck;
import java.io.IOException;
import java.util.Collection;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.api.connector.sink2.CommitterInitContext;
import org.apache.flink.api.connector.sink2.CommittingSinkWriter;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.StatefulSinkWriter;
import org.apache.flink.api.connector.sink2.SupportsCommitter;
import org.apache.flink.api.connector.sink2.SupportsWriterState;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.sink.KafkaWriterState;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.streaming.api.connector.sink2.CommittableMessage;
import org.apache.flink.streaming.api.connector.sink2.SupportsPostCommitTopology;
import org.apache.flink.streaming.api.datastream.DataStream;

/**
 * Kafka's transactional sink, with a committer that does not treat aborted transactions as written ({@link
 * StrictCommitter}). Its operators must be chained.
 */
@SuppressWarnings("try") // the writers declare that close may be interrupted
final class StrictSink
        implements Sink<TopicRecord>,
                SupportsWriterState<TopicRecord, KafkaWriterState>,
                SupportsCommitter<KafkaCommittable>,
                SupportsPostCommitTopology<KafkaCommittable> {
    private static final long serialVersionUID = 1;

    private final KafkaSink<TopicRecord> sink;
    private final KafkaTarget target;

    StrictSink(KafkaSink<TopicRecord> sink, KafkaTarget target) {
        this.sink = sink;
        this.target = target;
    }

    @Override
    public SinkWriter<TopicRecord> createWriter(WriterInitContext context) throws IOException {
        try {
            return strict(sink.createWriter(new StrictContext(context, target.toString())));
        } catch (IOException | RuntimeException e) {
            BrokerErrors.endIfRefused(target.toString(), e);
            throw e;
        }
    }

    @Override
    public StatefulSinkWriter<TopicRecord, KafkaWriterState> restoreWriter(
            WriterInitContext context, Collection<KafkaWriterState> states) throws IOException {
        try {
            return strict(sink.restoreWriter(new StrictContext(context, target.toString()), states));
        } catch (RuntimeException e) {
            BrokerErrors.endIfRefused(target.toString(), e);
            throw e;
        }
    }

    private <
                    W extends
                            StatefulSinkWriter<TopicRecord, KafkaWriterState>
                                    & CommittingSinkWriter<TopicRecord, KafkaCommittable>>
            StrictWriter<W> strict(W writer) {
        return new StrictWriter<>(writer, target.toString());
    }

    @Override
    public SimpleVersionedSerializer<KafkaWriterState> getWriterStateSerializer() {
        return sink.getWriterStateSerializer();
    }

    @Override
    public Committer<KafkaCommittable> createCommitter(CommitterInitContext context) {
        return new StrictCommitter(sink.createCommitter(context), this::abort, target.toString());
    }

    private void abort(Collection<String> transactionalIds) throws IOException {
        try (TopicCheck topic = new TopicCheck(target)) {
            topic.abort(transactionalIds);
        }
    }

    @Override
    public SimpleVersionedSerializer<KafkaCommittable> getCommittableSerializer() {
        return sink.getCommittableSerializer();
    }

    @Override
    public void addPostCommitTopology(DataStream<CommittableMessage<KafkaCommittable>> committables) {
        sink.addPostCommitTopology(committables);
    }
}
