package dev.stoker.feeder;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.feeder.plan.FeedFlags;
import dev.stoker.flink.failure.RestartLimit;
import java.time.Duration;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Test;

/** No default ends a feed within an outage of an hour, as docs/reference/failures.md promises. */
class OutageBoundsTest {
    private static final Duration OUTAGE = Duration.ofHours(1);

    @Test
    void aFeedWithoutTrainersOutlivesTheOutage() {
        assertThat(FeedFlags.IDLE_TIMEOUT.defaultValue()).isGreaterThan(OUTAGE);
    }

    /** Checkpoints fail for as long as the outage lasts. Restarts do not: a task that starts during an outage waits. */
    @Test
    void failedCheckpointsNeverEndAFeedAndRareRestartsAreForgotten() {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(new Configuration());
        RestartLimit.set(env);
        assertThat(env.getConfiguration().get(CheckpointingOptions.TOLERABLE_FAILURE_NUMBER))
                .isEqualTo(Integer.MAX_VALUE);
        assertThat(env.getConfiguration()
                        .get(RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_RESET_BACKOFF_THRESHOLD))
                .isEqualTo(Duration.ofMinutes(10));
        assertThat(env.getConfiguration().get(RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_ATTEMPTS))
                .isEqualTo(10);
    }
}
