package dev.stoker.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.client.errors.FeedException;
import dev.stoker.client.transport.Timing;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.testing.Rounds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

/**
 * Feeders that abuse the protocol: the trainer gets exactly the right batches, or a typed error, and never waits for
 * ever.
 */
@Timeout(1800)
class HostileFeederTest {
    private static final FakeStream STREAM = FakeStream.of(4, 17, 14);
    private static final Timing HASTY = new Timing(
            Duration.ofMillis(50),
            Duration.ofMillis(50),
            Duration.ofMillis(200),
            Duration.ofMillis(500),
            Duration.ofMillis(500),
            Duration.ofMillis(500),
            Duration.ofMillis(200),
            Duration.ofMillis(50),
            Duration.ofMillis(5));
    private static final int SESSIONS = 10;
    private static final long HANGS_MS = 60_000;

    @Test
    void trainersGetTheRightBatchesOrATypedError(TestInfo test) {
        AtomicLong whole = new AtomicLong();
        List<String> expected = new ArrayList<>(STREAM.expected(0, TailPolicy.PAD, Participant.rank(0, 1), 0));
        expected.addAll(STREAM.expected(1, TailPolicy.PAD, Participant.rank(0, 1), 0));
        long sessions = Rounds.of(test).seconds(4).atLeast(SESSIONS).run((random, round) -> {
            List<String> delivered = read(random, false);
            assertThat(delivered).isEqualTo(expected.subList(0, Math.min(expected.size(), delivered.size())));
            whole.addAndGet(delivered.size() == expected.size() ? 1 : 0);
        });
        if (!Rounds.isReplay()) {
            assertThat(whole.get()).as("later connections make good").isGreaterThan(sessions / 3);
        }
    }

    @Test
    void messagesThatAreNoneEndInATypedError(TestInfo test) {
        Rounds.of(test).seconds(3).atLeast(SESSIONS).run((random, round) -> read(random, true));
    }

    /** What the trainer gets, until it ends by a typed error if it does. */
    private static List<String> read(Random random, boolean forges) throws Exception {
        List<String> delivered = Collections.synchronizedList(new ArrayList<>());
        AtomicReference<Throwable> failure = new AtomicReference<>();
        try (FakeFeeder feeder = new FakeFeeder(STREAM);
                HostileFeeder hostile = new HostileFeeder(feeder.address(), random, 1 + random.nextInt(3), forges)) {
            feeder.publish(new LaneMap(
                    1, 1, List.of(hostile.address()), Collections.nCopies(STREAM.laneRows().length, List.of(0))));
            Thread trainer = new Thread(() -> {
                try (FeedClient feed = FeedClient.of(hostile.address())
                        .environment(Map.of())
                        .timing(HASTY)
                        .timeouts(t -> t.connectTimeout(Duration.ofSeconds(1))
                                .reconnectTimeout(Duration.ofSeconds(1))
                                .batchTimeout(Duration.ofSeconds(1)))
                        .open()) {
                    for (int epoch = 0; epoch < 2; epoch++) {
                        Iteration batches = feed.epoch();
                        while (batches.hasNext()) {
                            try (Batch batch = batches.next()) {
                                delivered.add(FakeStream.text(batch));
                            }
                        }
                    }
                } catch (FeedException e) {
                    // As it should.
                } catch (Throwable e) {
                    failure.set(e);
                }
            });
            trainer.setDaemon(true);
            trainer.start();
            trainer.join(HANGS_MS);
            assertThat(trainer.isAlive()).as("the client hangs").isFalse();
            if (failure.get() != null) {
                throw new AssertionError(failure.get().toString(), failure.get());
            }
        }
        return delivered;
    }
}
