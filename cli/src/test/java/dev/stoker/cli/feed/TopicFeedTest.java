package dev.stoker.cli.feed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.feeder.topic.TopicProgress;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TopicFeedTest {
    private static final Duration TIME = Duration.ofSeconds(12);

    private static TopicProgress.Snapshot written(long... epochs) {
        List<TopicProgress.Lane> lanes = IntStream.range(0, epochs.length)
                .mapToObj(lane -> new TopicProgress.Lane(lane, epochs[lane], 0, 0, ""))
                .toList();
        return new TopicProgress.Snapshot(1234, 5678, 90_000, lanes);
    }

    @Test
    void saysHowMuchAFeedHasWritten() {
        assertThat(TopicFeed.end(written(2, 2), OptionalLong.empty(), 2, TIME))
                .isEqualTo("done after 12.0 s: wrote 1,234 records with 5,678 samples, 90.0 kB");
    }

    @Test
    void saysThatAFeedWasStoppedInTheMiddle() {
        String stopped = "stopped after 12.0 s in epoch 1: wrote 1,234 records with 5,678 samples, 90.0 kB;"
                + " the same command resumes with the epoch in which the topic ends";
        assertThat(TopicFeed.end(written(2, 1), OptionalLong.of(2), 2, TIME)).isEqualTo(stopped);
        assertThat(TopicFeed.end(written(2, 1), OptionalLong.of(0), 2, TIME)).isEqualTo(stopped);
        assertThat(TopicFeed.end(written(1), OptionalLong.of(1), 2, TIME))
                .as("nothing of lane 1")
                .startsWith("stopped");
        assertThat(TopicFeed.end(written(2, 2), OptionalLong.of(2), 2, TIME))
                .as("stopped when everything was written")
                .startsWith("done");
    }
}
