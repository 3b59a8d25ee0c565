package dev.stoker.connectors.kafka.source;

import dev.stoker.connectors.kafka.BrokerErrors;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.BiConsumer;
import org.apache.flink.api.connector.source.ReaderInfo;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.connector.source.SplitsAssignment;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.flink.metrics.groups.SplitEnumeratorMetricGroup;

/**
 * The context of Kafka's enumerator. Ends the job if an answer shows that brokers refuse a request permanently.
 *
 * @param context Flink's
 * @param where topic and brokers, for messages
 */
record StrictCoordination(SplitEnumeratorContext<KafkaPartitionSplit> context, String where)
        implements SplitEnumeratorContext<KafkaPartitionSplit> {

    private <T> BiConsumer<T, Throwable> strict(BiConsumer<T, Throwable> handler) {
        return (answer, failure) -> {
            try {
                handler.accept(answer, failure);
            } catch (RuntimeException e) {
                BrokerErrors.endIfRefused(where, e);
                throw e;
            }
        };
    }

    @Override
    public <T> void callAsync(Callable<T> question, BiConsumer<T, Throwable> handler) {
        context.callAsync(question, strict(handler));
    }

    @Override
    public <T> void callAsync(
            Callable<T> question, BiConsumer<T, Throwable> handler, long initialDelayMs, long periodMs) {
        context.callAsync(question, strict(handler), initialDelayMs, periodMs);
    }

    @Override
    public SplitEnumeratorMetricGroup metricGroup() {
        return context.metricGroup();
    }

    @Override
    public void sendEventToSourceReader(int subtask, SourceEvent event) {
        context.sendEventToSourceReader(subtask, event);
    }

    @Override
    public void sendEventToSourceReader(int subtask, int attempt, SourceEvent event) {
        context.sendEventToSourceReader(subtask, attempt, event);
    }

    @Override
    public int currentParallelism() {
        return context.currentParallelism();
    }

    @Override
    public Map<Integer, ReaderInfo> registeredReaders() {
        return context.registeredReaders();
    }

    @Override
    public Map<Integer, Map<Integer, ReaderInfo>> registeredReadersOfAttempts() {
        return context.registeredReadersOfAttempts();
    }

    @Override
    public void assignSplits(SplitsAssignment<KafkaPartitionSplit> splits) {
        context.assignSplits(splits);
    }

    @Override
    public void assignSplit(KafkaPartitionSplit split, int subtask) {
        context.assignSplit(split, subtask);
    }

    @Override
    public void signalNoMoreSplits(int subtask) {
        context.signalNoMoreSplits(subtask);
    }

    @Override
    public void runInCoordinatorThread(Runnable action) {
        context.runInCoordinatorThread(action);
    }

    @Override
    public void setIsProcessingBacklog(boolean isProcessingBacklog) {
        context.setIsProcessingBacklog(isProcessingBacklog);
    }
}
