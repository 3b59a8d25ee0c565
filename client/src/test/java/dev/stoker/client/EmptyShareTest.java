package dev.stoker.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Subscribe;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A rank or loader worker without a batch in an epoch tells the feed, so that the feed does not wait for it. */
@Timeout(60)
class EmptyShareTest {
    /** Two batches. */
    private static final FakeStream STREAM = FakeStream.of(4, 5, 3);

    private final FakeFeeder feeder = new FakeFeeder(STREAM);

    @AfterEach
    void stop() {
        feeder.close();
    }

    private void awaitTold(int count) {
        long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (feeder.emptyShares.size() < count) {
            assertThat(System.nanoTime()).as("told %s times", count).isLessThan(deadline);
            Thread.onSpinWait();
        }
    }

    @Test
    void theFeederIsToldOfAnEmptyShare() {
        try (FeedClient feed =
                feeder.client().rank(3, 4).steps(s -> s.tail(TailPolicy.KEEP)).open()) {
            assertThat(FakeStream.read(feed)).isEmpty();
            awaitTold(1);
        }
        Subscribe told = feeder.emptyShares.element();
        assertThat(List.of(told.epoch(), told.first(), told.stride(), told.count()))
                .containsExactly(0L, 3L, 4L, 0L);
        assertThat(feeder.emptyShares).hasSize(1);
    }

    @Test
    void aFeederThatComesBackIsToldAgainIfItWasNotDurable() {
        feeder.isDurable = false;
        try (FeedClient feed =
                feeder.client().rank(3, 4).steps(s -> s.tail(TailPolicy.KEEP)).open()) {
            assertThat(FakeStream.read(feed)).isEmpty();
            awaitTold(1);
            feeder.isDurable = true;
            feeder.kill();
            feeder.start();
            awaitTold(2);
        }
    }

    @Test
    void aWorkerWithoutAStepTellsIt() {
        try (FeedClient feed = feeder.client().ranks(r -> r.worker(0, 1, 5, 6)).open()) {
            assertThat(FakeStream.read(feed)).isEmpty();
            awaitTold(1);
        }
    }

    @Test
    void everyEpochOfAFeedWithAnEndIsGoneThrough() {
        try (FeedClient feed = feeder.client()
                .rank(3, 4)
                .steps(s -> s.tail(TailPolicy.KEEP))
                .epochs(4)
                .open()) {
            assertThat(feed.batches()).isEmpty();
            awaitTold(1);
        }
        List<Long> epochs = new ArrayList<>();
        feeder.emptyShares.forEach(told -> epochs.add(told.epoch()));
        // Messages about earlier epochs are not needed any more.
        assertThat(epochs.get(epochs.size() - 1)).isEqualTo(3);
    }
}
