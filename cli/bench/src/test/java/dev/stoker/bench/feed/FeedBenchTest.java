package dev.stoker.bench.feed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.client.stats.FeedStats;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FeedBenchTest {

    private static FeedStats stats(long localReadBytes, int unixConnections) {
        return new FeedStats(
                1,
                64,
                100,
                localReadBytes,
                Duration.ZERO,
                Duration.ZERO,
                Map.of(),
                List.of(),
                1,
                unixConnections,
                0,
                0,
                0,
                0);
    }

    @Test
    void aRowThatWasMeasuredInAnotherWayHasANote() {
        assertThat(FeedBench.note("tcp", stats(0, 0))).isEmpty();
        assertThat(FeedBench.note("unix", stats(0, 1))).isEmpty();
        assertThat(FeedBench.note("unix", stats(0, 0)))
                .hasValueSatisfying(note -> assertThat(note).endsWith("unix was measured over TCP"));
        assertThat(FeedBench.note("local-reads", stats(100, 1))).isEmpty();
        assertThat(FeedBench.note("local-reads", stats(0, 1)))
                .hasValueSatisfying(
                        note -> assertThat(note).endsWith("local-reads was measured over the Unix-domain socket"));
    }
}
