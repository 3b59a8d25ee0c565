package dev.stoker.client;

import static dev.stoker.client.FakeStream.read;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.client.errors.Difference;
import dev.stoker.client.errors.FeedException;
import dev.stoker.client.errors.StateMismatchException;
import dev.stoker.client.stats.FeedStats;
import dev.stoker.schemas.order.LaneOrder;
import dev.stoker.schemas.order.ShufflePolicy;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.Stats;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Jobs of other shapes: epochs in parts, joined batches, replicas, another batch size; and the statistics sent to
 * feeders.
 */
@Timeout(120)
class FeedPartsTest {
    private static final FakeStream STREAM = FakeStream.of(4, 23, 17, 9);

    private final FakeFeeder feeder = new FakeFeeder(STREAM);

    @AfterEach
    void stop() {
        feeder.close();
    }

    @Test
    void anEpochInPartsIsReadWithoutAskingAnew() {
        List<String> expected = STREAM.expected(0, TailPolicy.PAD, Participant.rank(1, 2), 0);
        try (FeedClient feed =
                feeder.client().rank(1, 2).steps(s -> s.epochBatches(3)).open()) {
            assertThat(feed.steps()).isEqualTo(3);
            List<String> states = new ArrayList<>();
            for (int part = 0; part < 3; part++) {
                states.add(feed.state());
                assertThat(read(feed)).isEqualTo(expected.subList(3 * part, Math.min(7, 3 * part + 3)));
            }
            assertThat(read(feed))
                    .isEqualTo(STREAM.expected(1, TailPolicy.PAD, Participant.rank(1, 2), 0)
                            .subList(0, 3));
            assertThat(states.get(1)).contains("\"epoch\":0,\"batch\":6,");
            // One for each epoch that was begun, the next one included.
            assertThat(feeder.subscriptions).isBetween(2, 3);
            feed.load(states.get(2));
            assertThat(read(feed)).isEqualTo(expected.subList(6, 7));
            feed.setEpoch(4); // the second of three parts of epoch 1
            assertThat(feed.state()).contains("\"epoch\":1,\"batch\":6,");
            feed.epoch().next();
            assertThat(read(feed))
                    .isEqualTo(STREAM.expected(1, TailPolicy.PAD, Participant.rank(1, 2), 0)
                            .subList(6, 7));
        }
    }

    @ParameterizedTest
    @EnumSource(TailPolicy.class)
    void joinedBatchesAreThoseOfTheRanksOfALargerJob(TailPolicy tail) {
        for (int rank = 0; rank < 2; rank++) {
            List<List<String>> ranks = new ArrayList<>();
            for (int part = 0; part < 2; part++) {
                try (FeedClient feed = feeder.client()
                        .rank(rank + 2 * part, 4)
                        .steps(s -> s.tail(tail))
                        .open()) {
                    List<String> keys = new ArrayList<>();
                    feed.epoch().forEach(batch -> keys.add(String.join(" ", batch.keys())));
                    ranks.add(keys);
                }
            }
            try (FeedClient feed = feeder.client()
                    .rank(rank, 2)
                    .steps(s -> s.tail(tail).concat(2))
                    .open()) {
                List<String> states = new ArrayList<>();
                for (int epoch = 0; epoch < 2; epoch++) {
                    int step = 0;
                    for (Batch batch : feed.epoch()) {
                        List<String> keys = batch.keys();
                        if (epoch == 0 && (step < 3 || tail != TailPolicy.PAD)) {
                            String joined = ranks.get(0).get(step)
                                    + (step < ranks.get(1).size()
                                            ? " " + ranks.get(1).get(step)
                                            : "");
                            assertThat(String.join(" ", keys)).isEqualTo(joined);
                        } else if (tail == TailPolicy.PAD) {
                            assertThat(keys).hasSize(8);
                        }
                        assertThat(batch.rows()).isEqualTo(keys.size());
                        states.add(batch.state());
                        step++;
                        batch.close();
                    }
                    assertThat(step).isEqualTo(ranks.get(0).size());
                }
                assertThat(states.get(0)).contains("\"epoch\":0,\"batch\":4,");
            }
        }
    }

    @Test
    void theLastJoinedBatchIsFilledWithItsOwnFirst() {
        try (FeedClient feed = feeder.client().steps(s -> s.concat(3)).open()) {
            Batch last = null;
            for (Batch batch : feed.epoch()) {
                last = batch;
            }
            // 13 batches: the last step takes number 12 and 13, and 12 again.
            assertThat(last.number()).isEqualTo(12);
            assertThat(last.rows()).isEqualTo(12);
            List<String> keys = last.keys();
            assertThat(keys.subList(8, 12)).isEqualTo(keys.subList(0, 4));
            assertThat(last.repeated()).isEqualTo(4 + 4 + 3);
            assertThat(last.messages().size()).isGreaterThan(3);
            last.close();
            // The pool gives out each buffer only once.
            Set<ByteBuffer> memory = Collections.newSetFromMap(new IdentityHashMap<>());
            for (int i = 0; i < 100; i++) {
                assertThat(memory.add(feed.buffers().take(4096))).isTrue();
            }
        }
        Set<String> all = new HashSet<>();
        feeder.receipts.forEach(receipt -> all.add(receipt.split(" ")[1]));
        assertThat(all).contains("0", "11", "12", "13");
    }

    @Test
    void replicasTakeTheBatchesOfTheirRank() {
        try (FeedClient feed =
                feeder.client().rank(3, 4).ranks(r -> r.replicas(2)).open()) {
            assertThat(read(feed)).isEqualTo(STREAM.expected(0, TailPolicy.PAD, Participant.rank(1, 2), 0));
        }
        Hello hello = feeder.hellos.remove();
        assertThat(hello.participant()).isEqualTo(Participant.rank(1, 2));
        assertThat(hello.replica()).isEqualTo(1);
    }

    @Test
    void anotherBatchSizeHasToBePermitted() {
        String state;
        try (FeedClient feed = feeder.client().open()) {
            Iteration epoch = feed.epoch();
            Batch third = null;
            for (int i = 0; i < 3; i++) {
                third = epoch.next();
            }
            state = third.state();
        }
        FakeStream larger = FakeStream.of(6, 23, 17, 9);
        try (FakeFeeder other = new FakeFeeder(larger);
                FeedClient feed = other.client().open()) {
            assertThatThrownBy(() -> feed.load(state))
                    .isInstanceOf(StateMismatchException.class)
                    .hasMessageContaining("batch_size 4 in the state, 6 here")
                    .hasMessageContaining("Difference.BATCH_SIZE");
            feed.load(state, Difference.BATCH_SIZE);
            assertThat(feed.repeats()).isBetween(0L, 12L);
            Set<String> keys = new HashSet<>();
            feed.epoch().forEach(batch -> keys.addAll(batch.keys()));
            assertThat(keys.size()).isEqualTo(49 - 12 + (int) feed.repeats());
            assertThatThrownBy(() -> feed.load(state.replace("\"seed\":5", "\"seed\":6"), Difference.BATCH_SIZE))
                    .hasMessageContaining("seed 6 in the state");
        }
    }

    @Test
    void batchesGoThroughEpochsUntilTheLast() {
        List<String> expected = new ArrayList<>();
        for (int epoch = 0; epoch < 3; epoch++) {
            expected.addAll(STREAM.expected(epoch, TailPolicy.PAD, Participant.rank(0, 1), 0));
        }
        List<String> found = new ArrayList<>();
        try (FeedClient feed = feeder.client().epochs(3).open()) {
            for (Batch batch : feed.batches()) {
                found.add(FakeStream.text(batch));
            }
            assertThat(feed.state()).contains("\"epoch\":3,\"batch\":0,");
        }
        assertThat(found).isEqualTo(expected);
        try (FeedClient feed =
                feeder.client().rank(0, 99).steps(s -> s.tail(TailPolicy.DROP)).open()) {
            assertThatThrownBy(() -> feed.batches().iterator().hasNext())
                    .isInstanceOf(FeedException.class)
                    .hasMessageContaining("no epoch of 13 batches has a step");
        }
    }

    @Test
    void whatIsAskedForIsSentAndChecked() {
        try (FeedClient feed = feeder.client()
                .batchSize(4)
                .order(o -> o.seed(5)
                        .lanes(3)
                        .shuffleWindow(1 << 30)
                        .shuffle(ShufflePolicy.WINDOW)
                        .laneOrder(LaneOrder.MIXED)
                        .json("{\"function\":1}"))
                .split("train")
                .version(3)
                .open()) {
            assertThat(feed.info().version()).isEqualTo(3);
            assertThat(feeder.hellos.remove().pass().order().toJson())
                    .isEqualTo("{\"function\":1,\"seed\":5,\"batch_size\":4,\"lanes\":3,\"shuffle_window\":1073741824,"
                            + "\"shuffle\":\"window\",\"lane_order\":\"mixed\"}");
        }
        assertThatThrownBy(() -> feeder.client().split("val").open())
                .isInstanceOf(StateMismatchException.class)
                .hasMessage("stream train: split train, asked for val");
        assertThatThrownBy(() -> feeder.client().version(2).open()).hasMessage("stream train: version 3, asked for 2");
        assertThatThrownBy(() -> feeder.client()
                        .ranks(r -> r.worker(0, 1, 0, 2))
                        .steps(s -> s.concat(2))
                        .open())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("concat 2 cannot be divided among 2 workers");
    }

    @Test
    void theFeederIsToldHowTheTrainerFaresAndExplainsItsWaits() {
        feeder.delays.put(6, new long[] {0, 400_000, 0});
        try (FeedClient feed = feeder.client().bufferBytes(2 * 4096).open()) {
            assertThat(read(feed)).hasSize(13);
            Waiting.until(() -> feed.stats().causes().containsKey("disk"));
            FeedStats stats = feed.stats();
            assertThat(stats.causes().get("disk").toMillis()).isBetween(1L, 401L);
            assertThat(stats.waited()).isGreaterThanOrEqualTo(stats.causes().get("disk"));
            assertThat(stats.samples()).isEqualTo(13 * 4);
            assertThat(feed.report()).startsWith("rank 0 waited ").contains("disk");
        }
        List<Stats> told = List.copyOf(feeder.stats);
        assertThat(told).hasSizeGreaterThan(1);
        assertThat(told.get(0).batches()).isZero();
        Stats last = told.get(told.size() - 1);
        assertThat(last.batches()).isEqualTo(13);
        assertThat(last.causes().get("disk")).isPositive();
        assertThat(last.waits().stream().map(Stats.Wait::feeder)).containsOnly(feeder.address());
    }

    @Test
    void aFeederThatDoesNotListenIsToldNothing() {
        feeder.isOld = true;
        feeder.delays.put(2, new long[] {0, 100_000, 0});
        try (FeedClient feed = feeder.client().bufferBytes(2 * 4096).open()) {
            assertThat(read(feed)).hasSize(13);
            assertThat(feed.stats().causes().keySet()).isSubsetOf("start", "feeder");
        }
        assertThat(feeder.stats).isEmpty();
    }
}
