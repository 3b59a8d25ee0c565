package dev.stoker.ingest.pack.plan;

import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.configuration.BatchExecutionOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** What an ingest in batch mode requires of Flink. */
public final class BatchSettings {
    private BatchSettings() {}

    /** Sets it. */
    public static void apply(StreamExecutionEnvironment env) {
        env.setRuntimeMode(RuntimeExecutionMode.BATCH);
        env.getConfig().enableObjectReuse();
        Configuration own = new Configuration();
        own.set(PipelineOptions.GENERIC_TYPES, false);
        // Plans are cut by the number of tasks, so Flink must not change it later.
        own.set(BatchExecutionOptions.ADAPTIVE_AUTO_PARALLELISM_ENABLED, false);
        if (!env.getConfiguration()
                .getOptional(RestartStrategyOptions.RESTART_STRATEGY)
                .isPresent()) {
            own.set(RestartStrategyOptions.RESTART_STRATEGY, "exponential-delay");
            own.set(RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_ATTEMPTS, 10);
        }
        env.configure(own);
    }
}
