package dev.stoker.bench.feed;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.junit.jupiter.api.Test;

class FeedResultTest {

    @Test
    void onlyANewFeederReadsFromTheOrigin() {
        FeedResult.First first = new FeedResult.First(Optional.of(new FeedResult.Start(2, 7)), 10, 1000, 1, true);
        assertThat(first.note()).startsWith("first epoch: the feeder reads from the origin");
        FeedResult.First running = new FeedResult.First(Optional.empty(), 10, 1000, 1, false);
        assertThat(running.note())
                .startsWith("first epoch of this measurement: not complete in the time; the feeder ran before")
                .doesNotContain("origin");
    }
}
