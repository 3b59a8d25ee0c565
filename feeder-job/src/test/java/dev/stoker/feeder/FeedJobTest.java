package dev.stoker.feeder;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.server.feed.OnCorrupt;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FeedJobTest {
    @TempDir
    Path directory;

    private Duration timeout(Configuration flink, Duration interval) throws IOException {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(flink);
        UUID id = new UUID(1, 2);
        FeedPlan.Stream stream = new FeedPlan.Stream("train", directory.toString(), id, 1, "train", 2, false);
        FeedPlan plan = new FeedPlan(
                "photos",
                id,
                List.of(stream),
                "{\"batch_size\":8,\"lanes\":2}",
                List.of(),
                0,
                OnCorrupt.FAIL,
                directory.toString(),
                0,
                null,
                "off",
                new FeedPlan.Work(interval.toMillis(), 1));
        new FeedGraph(plan).addTo(env);
        return Duration.ofMillis(env.getCheckpointConfig().getCheckpointTimeout());
    }

    @Test
    void aStalledCheckpointEndsAfterAMinute() throws IOException {
        assertThat(timeout(new Configuration(), Duration.ofSeconds(10))).isEqualTo(Duration.ofMinutes(1));
    }

    @Test
    void aLongIntervalLeavesMoreTime() throws IOException {
        assertThat(timeout(new Configuration(), Duration.ofMinutes(5))).isEqualTo(Duration.ofMinutes(10));
    }

    @Test
    void theTimeoutOfFlinksConfigurationCounts() throws IOException {
        Configuration flink = new Configuration();
        flink.set(CheckpointingOptions.CHECKPOINTING_TIMEOUT, Duration.ofSeconds(7));
        assertThat(timeout(flink, Duration.ofSeconds(10))).isEqualTo(Duration.ofSeconds(7));
    }
}
