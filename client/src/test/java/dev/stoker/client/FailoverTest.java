package dev.stoker.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.client.FakeFeeder.Fault;
import dev.stoker.client.FakeFeeder.Planned;
import dev.stoker.client.errors.BatchTimeoutException;
import dev.stoker.client.errors.ConnectTimeoutException;
import dev.stoker.client.errors.CorruptBatchException;
import dev.stoker.client.errors.FeedProtocolException;
import dev.stoker.client.errors.FencedException;
import dev.stoker.client.errors.StateMismatchException;
import dev.stoker.client.transport.Timing;
import dev.stoker.schemas.order.delivery.Delivery;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.LaneMap;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Feeders that die, send wrong data, stay silent or return: no batch is lost, repeated or changed. */
@Timeout(60)
class FailoverTest {
    private static final FakeStream STREAM = FakeStream.of(4, 40, 37, 29, 44);
    private static final List<String> EXPECTED = STREAM.expected(0, TailPolicy.PAD, Participant.rank(0, 1), 0);

    /** A tenth of the protocol's patience. */
    private static final Timing QUICK = new Timing(
            Duration.ofMillis(50),
            Duration.ofMillis(500),
            Duration.ofSeconds(3),
            Duration.ofMillis(200),
            Duration.ofSeconds(1),
            Duration.ofMillis(500),
            Duration.ofSeconds(3),
            Duration.ofMillis(300),
            Duration.ofMillis(5));

    private final List<FakeFeeder> feeders = new ArrayList<>();

    @AfterEach
    void stop() {
        feeders.forEach(FakeFeeder::close);
    }

    private FakeFeeder one() {
        feeders.add(new FakeFeeder(STREAM));
        return feeders.get(0);
    }

    private List<FakeFeeder> two() {
        feeders.addAll(FakeFeeder.several(STREAM, 2));
        return feeders;
    }

    private FeedClientBuilder client() {
        return FeedClient.of(String.join(
                        ",", feeders.stream().map(FakeFeeder::address).toList()))
                .environment(Map.of())
                .timing(QUICK);
    }

    private static List<String> rest(Iteration epoch) {
        List<String> batches = new ArrayList<>();
        while (epoch.hasNext()) {
            try (Batch batch = epoch.next()) {
                batches.add(FakeStream.text(batch));
            }
        }
        return batches;
    }

    private Set<String> receipts() {
        Set<String> all = new HashSet<>();
        feeders.forEach(feeder -> all.addAll(feeder.receipts));
        return all;
    }

    private static Set<String> allPieces() {
        Set<String> all = new HashSet<>();
        var numbering = STREAM.numbering(0);
        for (long number = 0; number < numbering.size().batches(); number++) {
            var pieces = Delivery.batch(numbering, TailPolicy.PAD, number).pieces();
            for (int piece = 0; piece < pieces.size(); piece++) {
                all.add("0 " + number + " " + piece);
            }
        }
        return all;
    }

    @Test
    void severalFeedersServeTheirLanes() {
        two();
        try (FeedClient feed = client().timing(Timing.STANDARD).open()) {
            assertThat(rest(feed.epoch())).isEqualTo(EXPECTED);
            assertThat(feed.stats().failovers()).isZero();
        }
        assertThat(feeders.get(0).served()).isGreaterThan(10);
        assertThat(feeders.get(1).served()).isGreaterThan(10);
        assertThat(receipts()).isEqualTo(allPieces());
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            mode = EnumSource.Mode.EXCLUDE,
            names = {"LEAVE_OUT", "WHOLE"})
    void whateverGoesWrongOnTheWayTheBatchesAreTheSame(Fault fault) {
        FakeFeeder feeder = one();
        for (int piece = 0; piece < 40; piece += 7) {
            feeder.faults.add(new Planned(fault, piece));
        }
        try (FeedClient feed = client().bufferBytes(5 * 4096).open()) {
            assertThat(rest(feed.epoch())).isEqualTo(EXPECTED);
            boolean isFlip = fault == Fault.FLIP || fault == Fault.FLIP_HEADER;
            assertThat(feed.stats().corruptPieces() > 0).isEqualTo(isFlip);
            assertThat(feed.stats().reconnects() > 0).isEqualTo(fault == Fault.CUT);
        }
        assertThat(feeder.faults).isEmpty();
        assertThat(receipts()).isEqualTo(allPieces());
    }

    @Test
    void aPieceThatIsLeftOutIsAskedForAtTheEndOfTheEpoch() {
        FakeFeeder feeder = one();
        feeder.faults.add(new Planned(Fault.LEAVE_OUT, 11));
        feeder.faults.add(new Planned(Fault.LEAVE_OUT, 20));
        try (FeedClient feed = client().open()) {
            assertThat(rest(feed.epoch())).isEqualTo(EXPECTED);
        }
        assertThat(feeder.faults).isEmpty();
    }

    @Test
    void anotherFeederServesTheLanesOfADeadOne() {
        two();
        try (FeedClient feed = client().bufferBytes(4 * 4096).open()) {
            Iteration epoch = feed.epoch();
            List<String> batches = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                batches.add(FakeStream.text(epoch.next()));
            }
            feeders.get(1).kill();
            batches.addAll(rest(epoch));
            assertThat(batches).isEqualTo(EXPECTED);
            assertThat(feed.stats().failovers()).isPositive();
        }
    }

    @Test
    void aFeederThatFallsSilentIsLeftForAnother() {
        two();
        try (FeedClient feed = client().bufferBytes(4 * 4096).open()) {
            Iteration epoch = feed.epoch();
            List<String> batches = new ArrayList<>(List.of(FakeStream.text(epoch.next())));
            feeders.get(0).isSilent = true;
            batches.addAll(rest(epoch));
            assertThat(batches).isEqualTo(EXPECTED);
        }
    }

    @Test
    void aFeederThatWasOnlyBusyGetsItsLanesBackWithoutAMap() {
        two();
        Timing unforgiving = new Timing(
                QUICK.failover(),
                QUICK.ping(),
                QUICK.dead(),
                QUICK.attempt(),
                QUICK.greeting(),
                QUICK.admission(),
                Duration.ofHours(1),
                QUICK.refetch(),
                QUICK.ack());
        try (FeedClient feed =
                client().timing(unforgiving).bufferBytes(4 * 4096).open()) {
            Iteration epoch = feed.epoch();
            List<String> batches = new ArrayList<>(List.of(FakeStream.text(epoch.next())));
            feeders.get(0).isSilent = true;
            while (feed.stats().failovers() == 0) {
                batches.add(FakeStream.text(epoch.next()));
            }
            int before = feeders.get(0).subscriptions;
            feeders.get(0).isSilent = false;
            Waiting.until(() -> feeders.get(0).subscriptions > before);
            batches.addAll(rest(epoch));
            assertThat(batches).isEqualTo(EXPECTED);
        }
    }

    @Test
    void receiptsThatWereNotDurableAreRepeatedToWhoeverIsLeft() {
        two();
        feeders.forEach(feeder -> feeder.isDurable = false);
        try (FeedClient feed = client().bufferBytes(4 * 4096).open()) {
            Iteration epoch = feed.epoch();
            for (int i = 0; i < 10; i++) {
                epoch.next();
            }
            Waiting.until(() -> !feeders.get(1).receipts.isEmpty());
            feeders.get(1).kill();
            feeders.get(1).receipts.clear();
            rest(epoch);
        }
        assertThat(feeders.get(0).receipts).isEqualTo(allPieces());
    }

    @Test
    void aFeederThatComesBackIsUsedAgainWhenANewerMapSaysSo() {
        two();
        try (FeedClient feed = client().open()) {
            feeders.get(1).kill();
            assertThat(rest(feed.epoch())).isEqualTo(EXPECTED);
            int before = feeders.get(1).served();
            feeders.get(1).start();
            List<String> addresses = feeders.stream().map(FakeFeeder::address).toList();
            feeders.get(0)
                    .publish(new LaneMap(
                            1, 2, addresses, List.of(List.of(0, 1), List.of(1, 0), List.of(0, 1), List.of(1, 0))));
            for (int epoch = 1; epoch < 30 && feeders.get(1).served() == before; epoch++) {
                assertThat(rest(feed.epoch()))
                        .isEqualTo(STREAM.expected(epoch, TailPolicy.PAD, Participant.rank(0, 1), 0));
            }
            assertThat(feeders.get(1).served()).isGreaterThan(before);
        }
    }

    @Test
    void aRestartedFeederGoesOnWithTheSameNumbers() {
        FakeFeeder feeder = one();
        try (FeedClient feed = client().bufferBytes(3 * 4096).open()) {
            Iteration epoch = feed.epoch();
            List<String> batches = new ArrayList<>(List.of(FakeStream.text(epoch.next())));
            feeder.kill();
            Thread restart = new Thread(feeder::start);
            restart.start();
            batches.addAll(rest(epoch));
            assertThat(batches).isEqualTo(EXPECTED);
        }
    }

    @Test
    void aFeedThatWasRestartedWithOtherDataIsRefused() {
        FakeFeeder feeder = one();
        try (FeedClient feed = client().bufferBytes(3 * 4096).open()) {
            Iteration epoch = feed.epoch();
            epoch.next();
            feeder.kill();
            feeder.stream = new FakeStream(STREAM.order(), STREAM.laneRows(), "ff".repeat(16));
            feeder.start();
            assertThatThrownBy(() -> rest(epoch))
                    .isInstanceOf(StateMismatchException.class)
                    .hasMessageContaining("restarted with another dataset version or order: fingerprint was 0011");
        }
    }

    @Test
    void aBatchThatDoesNotComeNamesFeederAndLane() {
        FakeFeeder feeder = one();
        try (FeedClient feed = client().bufferBytes(2 * 4096)
                .timeouts(t -> t.batchTimeout(Duration.ofMillis(700)))
                .open()) {
            Iteration epoch = feed.epoch();
            epoch.next();
            feeder.isSilent = true;
            assertThatThrownBy(() -> rest(epoch))
                    .isInstanceOf(BatchTimeoutException.class)
                    .hasMessageContaining("epoch 0 batch")
                    .hasMessageContaining("from feeder " + feeder.address() + ", lane ");
        }
    }

    @Test
    void noFeederForTooLongIsAnError() {
        FakeFeeder feeder = one();
        try (FeedClient feed = client().bufferBytes(2 * 4096)
                .timeouts(t -> t.reconnectTimeout(Duration.ofMillis(700)))
                .open()) {
            Iteration epoch = feed.epoch();
            epoch.next();
            feeder.kill();
            assertThatThrownBy(() -> rest(epoch))
                    .isInstanceOf(ConnectTimeoutException.class)
                    .hasMessageContaining("no feeder could be reached");
        }
    }

    @Test
    void aTrainerThatPausesIsNotAbandoned() {
        FakeFeeder feeder = one();
        try (FeedClient feed = client().bufferBytes(2 * 4096)
                .timeouts(t -> t.batchTimeout(Duration.ofSeconds(1)))
                .open()) {
            Iteration epoch = feed.epoch();
            List<String> batches = new ArrayList<>(List.of(FakeStream.text(epoch.next())));
            long until = System.nanoTime() + 1_500_000_000L;
            Waiting.until(() -> System.nanoTime() > until);
            batches.addAll(rest(epoch));
            assertThat(batches).isEqualTo(EXPECTED);
        }
        assertThat(feeder.hellos).hasSize(1);
    }

    @Test
    void aFencedTrainerStops() {
        FakeFeeder feeder = one();
        try (FeedClient feed = client().bufferBytes(2 * 4096).open()) {
            Iteration epoch = feed.epoch();
            epoch.next();
            feeder.refusal = Optional.of(new ErrorMessage("fenced", "run 9 has taken over"));
            feeder.kill();
            feeder.start();
            assertThatThrownBy(() -> rest(epoch))
                    .isInstanceOf(FencedException.class)
                    .hasMessageContaining("run 9 has taken over");
            assertThatThrownBy(feed::epoch).isInstanceOf(FencedException.class);
        }
    }

    @Test
    void aPieceThatTheOrderDoesNotKnowIsNotDelivered() {
        FakeFeeder feeder = one();
        feeder.isConfused = true;
        try (FeedClient feed = client().open()) {
            assertThatThrownBy(() -> rest(feed.epoch()))
                    .isInstanceOf(FeedProtocolException.class)
                    .hasMessageContaining("the order says");
        }
    }

    @Test
    void damageThatDoesNotHealEndsTheFeed() {
        FakeFeeder feeder = one();
        for (int i = 0; i < 1000; i++) {
            feeder.faults.add(new Planned(Fault.FLIP, 0));
        }
        feeder.isAlwaysDamaged = true;
        try (FeedClient feed = client().open()) {
            assertThatThrownBy(() -> rest(feed.epoch()))
                    .isInstanceOf(CorruptBatchException.class)
                    .hasMessageContaining("arrived damaged 5 times from feeder " + feeder.address());
        }
    }
}
