package dev.stoker.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.client.errors.FeedException;
import dev.stoker.client.transport.Timing;
import dev.stoker.schemas.order.Participant;
import dev.stoker.schemas.order.TailPolicy;
import dev.stoker.schemas.protocol.LaneMap;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Feeders that abuse the protocol: the trainer gets exactly the right batches, or a typed error, and never waits for
 * ever. The seed is part of each failure: {@code -Dtest.seed=…}.
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
    private static final int SESSIONS = Integer.getInteger("test.sessions", 40);
    private static final long HANGS_MS = 60_000;

    private final long seed = Long.getLong("test.seed", System.nanoTime());

    @Test
    void trainersGetTheRightBatchesOrATypedError() throws Exception {
        int whole = 0;
        List<String> expected = new ArrayList<>(STREAM.expected(0, TailPolicy.PAD, Participant.rank(0, 1), 0));
        expected.addAll(STREAM.expected(1, TailPolicy.PAD, Participant.rank(0, 1), 0));
        for (int session = 0; session < SESSIONS; session++) {
            List<String> delivered = read(session, false);
            String what = "seed " + seed + ", session " + session;
            assertThat(delivered).as(what).isEqualTo(expected.subList(0, Math.min(expected.size(), delivered.size())));
            whole += delivered.size() == expected.size() ? 1 : 0;
        }
        assertThat(whole).as("seed " + seed + ": later connections make good").isGreaterThan(SESSIONS / 3);
    }

    @Test
    void messagesThatAreNoneEndInATypedError() throws Exception {
        for (int session = 0; session < SESSIONS; session++) {
            read(session, true);
        }
    }

    /** What the trainer gets, until it ends by a typed error if it does. */
    private List<String> read(int session, boolean forges) throws Exception {
        Random random = new Random(seed * 1_000_003 + session);
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
                        .connectTimeout(Duration.ofSeconds(1))
                        .reconnectTimeout(Duration.ofSeconds(1))
                        .batchTimeout(Duration.ofSeconds(1))
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
            String what = "seed " + seed + ", session " + session + (forges ? ", forged" : "");
            assertThat(trainer.isAlive()).as(what + ": the client hangs").isFalse();
            if (failure.get() != null) {
                throw new AssertionError(what + ": " + failure.get(), failure.get());
            }
        }
        return delivered;
    }
}
