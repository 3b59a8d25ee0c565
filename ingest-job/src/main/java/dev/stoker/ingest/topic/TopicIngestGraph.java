package dev.stoker.ingest.topic;

import dev.stoker.connectors.dataset.TopicReportSerializer;
import dev.stoker.connectors.dataset.sink.TopicChunkSink;
import dev.stoker.connectors.kafka.source.KafkaSources;
import dev.stoker.flink.failure.RestartLimit;
import java.io.IOException;
import java.time.Duration;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.core.execution.CheckpointingMode;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * The graph of a topic ingest. Building it reads the file with the settings of the Kafka clients and nothing else.
 *
 * <pre>
 * topic (p) → pack (p) ── commit (1)
 * </pre>
 *
 * @param plan of the ingest
 */
record TopicIngestGraph(TopicIngestPlan plan) {

    /**
     * Adds the job to an environment, and sets what it requires of Flink.
     *
     * @throws IOException if the clients' settings cannot be read or are invalid
     */
    void addTo(StreamExecutionEnvironment env) throws IOException {
        int tasks = plan.tasks(env.getParallelism());
        configure(env);
        env.setMaxParallelism(Math.max(128, tasks));
        String topic = plan.pack().topic().topic();
        TopicChunkSink.addTo(
                env.fromSource(
                                KafkaSources.create(
                                        plan.pack().topic(),
                                        plan.reading().start(),
                                        plan.reading().stop()),
                                WatermarkStrategy.noWatermarks(),
                                "topic " + topic)
                        .uid("topic")
                        .setParallelism(tasks)
                        .transform("pack", TopicReportSerializer.TYPE, new TopicPackOperator(plan.pack()))
                        .uid("pack")
                        .setParallelism(tasks),
                plan.run());
    }

    private void configure(StreamExecutionEnvironment env) {
        Configuration own = new Configuration();
        own.set(ExecutionOptions.RUNTIME_MODE, RuntimeExecutionMode.STREAMING);
        own.set(
                CheckpointingOptions.CHECKPOINTING_INTERVAL,
                Duration.ofMillis(plan.reading().commitIntervalMs()));
        own.set(CheckpointingOptions.CHECKPOINTING_CONSISTENCY_MODE, CheckpointingMode.EXACTLY_ONCE);
        own.set(CheckpointingOptions.ENABLE_UNALIGNED, false);
        own.set(CheckpointingOptions.ENABLE_CHECKPOINTS_AFTER_TASKS_FINISH, true);
        own.set(JobManagerOptions.SCHEDULER, JobManagerOptions.SchedulerType.Default);
        own.set(PipelineOptions.GENERIC_TYPES, false);
        env.configure(own);
        RestartLimit.set(env);
        // Fetches and reports are immutable.
        env.getConfig().enableObjectReuse();
    }
}
