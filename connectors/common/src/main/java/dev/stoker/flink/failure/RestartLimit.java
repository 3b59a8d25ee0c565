package dev.stoker.flink.failure;

import java.time.Duration;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * Limits how often Flink restarts a streaming job. Flink's own default retries for ever, so a job with a wrong setting
 * would never fail. Tasks wait for temporary failures themselves, without a restart.
 */
public final class RestartLimit {

    private static final int ATTEMPTS = 10;
    private static final Duration FORGOTTEN_AFTER = Duration.ofMinutes(10);

    private RestartLimit() {}

    /** Sets the limit, unless the environment has a restart strategy. Also allows any number of failed checkpoints. */
    public static void set(StreamExecutionEnvironment env) {
        Configuration own = new Configuration();
        if (env.getConfiguration()
                .getOptional(RestartStrategyOptions.RESTART_STRATEGY)
                .isEmpty()) {
            own.set(RestartStrategyOptions.RESTART_STRATEGY, "exponential-delay");
            own.set(RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_INITIAL_BACKOFF, Duration.ofMillis(100));
            own.set(RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_MAX_BACKOFF, Duration.ofSeconds(10));
            own.set(RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_ATTEMPTS, ATTEMPTS);
            own.set(RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_RESET_BACKOFF_THRESHOLD, FORGOTTEN_AFTER);
        }
        if (env.getConfiguration()
                .getOptional(CheckpointingOptions.TOLERABLE_FAILURE_NUMBER)
                .isEmpty()) {
            // Checkpoints time out while a task waits, and fail while the store is unavailable.
            own.set(CheckpointingOptions.TOLERABLE_FAILURE_NUMBER, Integer.MAX_VALUE);
        }
        env.configure(own);
    }
}
