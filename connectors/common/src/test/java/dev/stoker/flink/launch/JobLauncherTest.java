package dev.stoker.flink.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.flink.embedded.EmbeddedFlink;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.streaming.api.environment.LocalStreamEnvironment;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class JobLauncherTest {

    private static final Duration LONG = Duration.ofSeconds(100);

    private static JobLauncher.Mode mode(boolean isAttached) {
        Configuration settings = new Configuration().set(DeploymentOptions.ATTACHED, isAttached);
        return JobLauncher.submitting(new StreamExecutionEnvironment(settings)).mode();
    }

    private static Configuration small() {
        return new Configuration().set(RestartStrategyOptions.RESTART_STRATEGY, "none");
    }

    private static void endless(StreamExecutionEnvironment env) {
        env.fromSequence(0, Long.MAX_VALUE).sinkTo(new DiscardingSink<>());
    }

    @Test
    void anEnvironmentSaysWhetherAClientWaits() {
        assertThat(mode(true)).isEqualTo(JobLauncher.Mode.ATTACHED);
        assertThat(mode(false)).isEqualTo(JobLauncher.Mode.DETACHED);
        assertThat(JobLauncher.submitting(new LocalStreamEnvironment()).mode()).isEqualTo(JobLauncher.Mode.EMBEDDED);
    }

    @Test
    void anEmbeddedJobIsOverWhenItHasEnded() throws Exception {
        try (JobLauncher launcher = JobLauncher.embedded(EmbeddedFlink.environment(1, small()))) {
            assertThat(launcher.mode()).isEqualTo(JobLauncher.Mode.EMBEDDED);
            launcher.environment().fromSequence(0, 9).sinkTo(new DiscardingSink<>());
            RunningJob job = launcher.launch("numbers");
            assertThat(job.ended(LONG)).isTrue();
            assertThat(job.isOver()).isTrue();
        }
    }

    @Test
    void aCancelledJobEndsWithAFailure() throws Exception {
        try (JobLauncher launcher = JobLauncher.embedded(EmbeddedFlink.environment(1, small()))) {
            endless(launcher.environment());
            RunningJob job = launcher.launch("endless");
            assertThat(job.ended(Duration.ZERO)).isFalse();
            job.cancel().get();
            assertThatThrownBy(() -> job.ended(LONG)).isInstanceOf(ExecutionException.class);
            assertThat(job.isOver()).isTrue();
        }
    }

    @Test
    void aJobOnAHeldClusterCanBeStoppedCleanly() throws Exception {
        try (ClusterLauncher launcher = ClusterLauncher.open(1, small())) {
            endless(launcher.environment());
            RunningJob job = launcher.launch("endless");
            // A job that is still starting cannot be stopped.
            boolean isStopped = false;
            while (!isStopped) {
                try {
                    job.stop().get();
                    isStopped = true;
                } catch (ExecutionException e) {
                    assertThat(job.ended(Duration.ofMillis(50))).isFalse();
                }
            }
            assertThat(job.ended(LONG)).isTrue();
            assertThat(job.isOver()).isTrue();
        }
    }
}
