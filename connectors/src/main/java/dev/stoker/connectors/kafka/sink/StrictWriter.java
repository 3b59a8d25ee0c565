package dev.stoker.connectors.kafka.sink;

import dev.stoker.connectors.kafka.BrokerErrors;
import dev.stoker.connectors.kafka.TopicRecord;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import org.apache.flink.api.connector.sink2.CommittingSinkWriter;
import org.apache.flink.api.connector.sink2.StatefulSinkWriter;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.flink.connector.kafka.sink.KafkaWriterState;

/** Kafka's writer. Ends the job if brokers refuse a request permanently. One thread, the task's. */
@SuppressWarnings("try") // the interface declares that close may be interrupted
final class StrictWriter<
                W extends
                        StatefulSinkWriter<TopicRecord, KafkaWriterState>
                                & CommittingSinkWriter<TopicRecord, KafkaCommittable>>
        implements StatefulSinkWriter<TopicRecord, KafkaWriterState>,
                CommittingSinkWriter<TopicRecord, KafkaCommittable> {

    private final W writer;
    private final String where;

    /** @param where topic and brokers, for messages */
    StrictWriter(W writer, String where) {
        this.writer = writer;
        this.where = where;
    }

    @Override
    public void write(TopicRecord record, Context context) throws IOException, InterruptedException {
        try {
            writer.write(record, context);
        } catch (IOException | RuntimeException e) {
            BrokerErrors.endIfRefused(where, e);
            throw e;
        }
    }

    @Override
    public void flush(boolean endOfInput) throws IOException, InterruptedException {
        try {
            writer.flush(endOfInput);
        } catch (IOException | RuntimeException e) {
            BrokerErrors.endIfRefused(where, e);
            throw e;
        }
    }

    @Override
    public Collection<KafkaCommittable> prepareCommit() throws IOException, InterruptedException {
        try {
            return writer.prepareCommit();
        } catch (IOException | RuntimeException e) {
            BrokerErrors.endIfRefused(where, e);
            throw e;
        }
    }

    @Override
    public List<KafkaWriterState> snapshotState(long checkpoint) throws IOException {
        try {
            return writer.snapshotState(checkpoint);
        } catch (IOException | RuntimeException e) {
            BrokerErrors.endIfRefused(where, e);
            throw e;
        }
    }

    @Override
    public void close() throws Exception {
        writer.close();
    }
}
