package dev.stoker.connectors.kafka.sink;

import dev.stoker.connectors.kafka.BrokerErrors;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.apache.flink.api.common.JobInfo;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.common.operators.ProcessingTimeService;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.metrics.groups.SinkWriterMetricGroup;
import org.apache.flink.util.UserCodeClassLoader;
import org.apache.flink.util.function.ThrowingRunnable;

/**
 * The context of Kafka's writer. Its producer's thread reports failures as mail, which bypasses the writer's methods;
 * here too, refusals end the job.
 *
 * @param context Flink's
 * @param where topic and brokers, for messages
 */
record StrictContext(WriterInitContext context, String where) implements WriterInitContext {

    @Override
    public MailboxExecutor getMailboxExecutor() {
        return new Mailbox(context.getMailboxExecutor(), where);
    }

    private record Mailbox(MailboxExecutor mailbox, String where) implements MailboxExecutor {

        @Override
        public void execute(
                MailOptions options, ThrowingRunnable<? extends Exception> mail, String description, Object... args) {
            ThrowingRunnable<Exception> strict = () -> {
                try {
                    mail.run();
                } catch (Exception e) {
                    BrokerErrors.endIfRefused(where, e);
                    throw e;
                }
            };
            mailbox.execute(options, strict, description, args);
        }

        @Override
        public void yield() throws InterruptedException {
            mailbox.yield();
        }

        @Override
        public boolean tryYield() {
            return mailbox.tryYield();
        }

        @Override
        public boolean shouldInterrupt() {
            return mailbox.shouldInterrupt();
        }
    }

    @Override
    public UserCodeClassLoader getUserCodeClassLoader() {
        return context.getUserCodeClassLoader();
    }

    @Override
    public ProcessingTimeService getProcessingTimeService() {
        return context.getProcessingTimeService();
    }

    @Override
    public SinkWriterMetricGroup metricGroup() {
        return context.metricGroup();
    }

    @Override
    public SerializationSchema.InitializationContext asSerializationSchemaInitializationContext() {
        return context.asSerializationSchemaInitializationContext();
    }

    @Override
    public boolean isObjectReuseEnabled() {
        return context.isObjectReuseEnabled();
    }

    @Override
    public <T> TypeSerializer<T> createInputSerializer() {
        return context.createInputSerializer();
    }

    @Override
    public <M> Optional<Consumer<M>> metadataConsumer() {
        return context.metadataConsumer();
    }

    @Override
    public OptionalLong getRestoredCheckpointId() {
        return context.getRestoredCheckpointId();
    }

    @Override
    public JobInfo getJobInfo() {
        return context.getJobInfo();
    }

    @Override
    public TaskInfo getTaskInfo() {
        return context.getTaskInfo();
    }
}
