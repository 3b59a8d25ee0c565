package dev.stoker.client;

import static dev.stoker.client.FakeStream.read;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.client.errors.ConnectTimeoutException;
import dev.stoker.client.errors.CorruptBatchException;
import dev.stoker.client.errors.FeedException;
import dev.stoker.client.errors.FeedProtocolException;
import dev.stoker.client.errors.FencedException;
import dev.stoker.client.errors.PlaceTakenException;
import dev.stoker.client.errors.StateMismatchException;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.parts.Launch;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
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

/** What a trainer sees of feeders that behave. */
@Timeout(60)
class FeedClientTest {
    private static final FakeStream STREAM = FakeStream.of(4, 23, 17, 9);

    private final FakeFeeder feeder = new FakeFeeder(STREAM);

    @AfterEach
    void stop() {
        feeder.close();
    }

    @ParameterizedTest
    @EnumSource(TailPolicy.class)
    void everyRankOfEveryWorldGetsItsBatchesOfEachEpoch(TailPolicy tail) {
        for (int worldSize = 1; worldSize <= 3; worldSize++) {
            for (int rank = 0; rank < worldSize; rank++) {
                try (FeedClient feed = feeder.client()
                        .rank(rank, worldSize)
                        .steps(s -> s.tail(tail))
                        .open()) {
                    for (int epoch = 0; epoch < 3; epoch++) {
                        assertThat(read(feed))
                                .isEqualTo(STREAM.expected(epoch, tail, Participant.rank(rank, worldSize), 0));
                    }
                }
            }
        }
    }

    @Test
    void workersOfARankShareItsBatches() {
        for (int i = 0; i < 3; i++) {
            int worker = i;
            try (FeedClient feed =
                    feeder.client().ranks(r -> r.worker(1, 2, worker, 3)).open()) {
                assertThat(read(feed))
                        .isEqualTo(STREAM.expected(0, TailPolicy.PAD, new Participant(1, 2, worker, 3), 0));
            }
        }
    }

    @Test
    void goesOnAtEveryPositionAlsoInAnotherWorld() {
        List<String> states = new ArrayList<>();
        try (FeedClient feed = feeder.client().rank(0, 2).open()) {
            states.add(feed.state());
            for (Batch batch : feed.epoch()) {
                states.add(batch.state());
                assertThat(feed.state()).isEqualTo(batch.state());
            }
        }
        for (int worldSize = 1; worldSize <= 3; worldSize++) {
            Participant last = Participant.rank(worldSize - 1, worldSize);
            for (int at = 0; at < states.size(); at++) {
                boolean isNext = at == states.size() - 1;
                try (FeedClient feed =
                        feeder.client().rank(last.rank(), worldSize).open()) {
                    feed.load(states.get(at));
                    assertThat(feed.state()).isEqualTo(states.get(at));
                    assertThat(read(feed))
                            .as(states.get(at))
                            .isEqualTo(STREAM.expected(isNext ? 1 : 0, TailPolicy.PAD, last, isNext ? 0 : 2L * at));
                    assertThat(read(feed)).isEqualTo(STREAM.expected(isNext ? 2 : 1, TailPolicy.PAD, last, 0));
                }
            }
        }
    }

    @Test
    void theStateIsTheJsonThatPythonWritesAndReads() {
        try (FeedClient feed = feeder.client().open()) {
            feed.setEpoch(2);
            assertThat(feed.state())
                    .isEqualTo("{\"stoker\":1,\"fingerprint\":\"00112233445566778899aabbccddeeff\",\"epoch\":2,"
                            + "\"batch\":0,"
                            + "\"dataset\":\"5e0c8c1e-6f0d-4b51-9a53-0d6f1a2b3c4d\","
                            + "\"version\":3,\"split\":\"train\","
                            + "\"order\":{\"function\":1,\"seed\":5,\"batch_size\":4,\"lanes\":3,"
                            + "\"shuffle_window\":1073741824,\"shuffle\":\"window\","
                            + "\"lane_order\":\"mixed\"}}");
            assertThat(read(feed)).isEqualTo(STREAM.expected(2, TailPolicy.PAD, Participant.rank(0, 1), 0));
        }
    }

    @Test
    void aStateOfOtherDataNamesWhatDiffers() {
        try (FeedClient feed = feeder.client().open()) {
            String state = feed.state();
            assertThatThrownBy(() -> feed.load(
                            state.replace("\"version\":3", "\"version\":2").replace("\"seed\":5", "\"seed\":6")))
                    .isInstanceOf(StateMismatchException.class)
                    .hasMessageContaining("version 2 in the state, 3 here")
                    .hasMessageContaining("seed 6 in the state, 5 here");
            assertThatThrownBy(() -> feed.load(state.replace("\"function\":1", "\"function\":2")
                            .replace("\"lane_order\":\"mixed\"", "\"lane_order\":\"mixed\",\"where\":\"n > 5\"")))
                    .isInstanceOf(StateMismatchException.class)
                    .hasMessageContaining("where n > 5 in the state, not set here");
            assertThatThrownBy(() -> feed.load(state.replace("0011", "1100")))
                    .isInstanceOf(StateMismatchException.class)
                    .hasMessageContaining("fingerprint");
            assertThatThrownBy(() -> feed.load(state.replace("\"batch\":0", "\"batch\":99")))
                    .isInstanceOf(StateMismatchException.class)
                    .hasMessageContaining("impossible position");
            assertThatThrownBy(() -> feed.load("{")).isInstanceOf(StateMismatchException.class);
        }
    }

    @Test
    void anIterationThatIsLeftEarlyIsFollowedByTheNextEpoch() {
        try (FeedClient feed = feeder.client().open()) {
            Iteration first = feed.epoch();
            first.next();
            assertThat(read(feed)).isEqualTo(STREAM.expected(1, TailPolicy.PAD, Participant.rank(0, 1), 0));
            assertThat(first.hasNext()).isFalse();
        }
    }

    @Test
    void epochsBeyondTheLastBringNothing() {
        try (FeedClient feed = feeder.client().epochs(1).open()) {
            assertThat(read(feed)).hasSize(13);
            assertThat(read(feed)).isEmpty();
        }
    }

    @Test
    void everyBatchThatWasConsumedIsAcknowledgedOnceTheClientIsClosed() {
        try (FeedClient feed = feeder.client().open()) {
            Iteration epoch = feed.epoch();
            for (int i = 0; i < 5; i++) {
                epoch.next();
            }
        }
        Set<String> expected = new HashSet<>();
        for (int number = 0; number < 5; number++) {
            for (int piece = 0; piece < STREAM.numbering(0).batch(number).size(); piece++) {
                expected.add("0 " + number + " " + piece);
            }
        }
        assertThat(feeder.receipts).containsExactlyInAnyOrderElementsOf(expected);
    }

    @Test
    void receiptsAreCoalesced() {
        try (FeedClient feed = feeder.client().open()) {
            for (int epoch = 0; epoch < 20; epoch++) {
                read(feed);
            }
        }
        assertThat(feeder.receipts).hasSizeGreaterThan(20 * 13 - 1);
        assertThat(feeder.ackFrames).isLessThan(100);
    }

    @Test
    void noMoreIsAskedForThanTheBufferHolds() {
        try (FeedClient feed = feeder.client().bufferBytes(3 * 4096).open()) {
            Iteration epoch = feed.epoch();
            epoch.next();
            Waiting.until(() -> feeder.served() >= 3);
            epoch.next();
            Waiting.until(() -> feeder.served() >= 4);
            assertThat(feeder.served()).isLessThanOrEqualTo(4);
        }
    }

    @Test
    void columnsAreViewsOfWhatCame() {
        try (FeedClient feed = feeder.client().open()) {
            for (Batch batch : feed.epoch()) {
                int[] labels = batch.ints("label");
                long[] places = batch.longs("place");
                float[] weights = batch.floats("weight", -1);
                assertThatThrownBy(() -> batch.floats("weight"))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("field 'weight' has no value")
                        .hasMessageContaining("floats(\"weight\", 0)");
                int[] even = batch.ints("even");
                for (int row = 0; row < batch.rows(); row++) {
                    String[] parts = batch.key(row).split("/");
                    int lane = Integer.parseInt(parts[0]);
                    long place = Long.parseLong(parts[1]);
                    assertThat(places[row]).isEqualTo(place);
                    if (place % 7 == 5) {
                        assertThat(labels[row]).isEqualTo(Batch.NO_CLASS);
                        assertThat(batch.ints("label", 7)[row]).isEqualTo(7);
                        assertThat(batch.className("label", row)).isEmpty();
                    } else {
                        assertThat(labels[row]).isEqualTo((int) (place % 3));
                        assertThat(batch.className("label", row))
                                .contains(List.of("ant", "bee", "cat").get((int) (place % 3)));
                    }
                    assertThat(batch.isMissing("weight", row)).isEqualTo(place % 4 == 0);
                    assertThat(weights[row]).isEqualTo(place % 4 == 0 ? -1 : place / 2f);
                    assertThat(even[row]).isEqualTo(place % 2 == 0 ? 1 : 0);
                    assertThat(batch.bytes("tokens", row).remaining()).isEqualTo((int) (4 * (place % 3)));
                    byte[] data = new byte[batch.bytes("data", row).remaining()];
                    batch.bytes("data", row).get(data);
                    assertThat(data).isEqualTo(FakeStream.data(lane, place));
                    assertThat(batch.bytes("data", row).isReadOnly()).isTrue();
                    assertThat(batch.longs("at")[row]).isEqualTo(-place);
                    assertThat(batch.decimal("price", row)).isEqualTo(BigDecimal.valueOf(-place, 2));
                    assertThat(batch.isMissing("tags", row)).isEqualTo(place % 3 == 0);
                    assertThat(batch.texts("tags", row))
                            .isEqualTo(Collections.nCopies((int) (place % 3), "tag " + place));
                    assertThat(batch.items("tags", row)).hasSize((int) (place % 3));
                    assertThat(batch.isNullItem("marks", row, 0)).isTrue();
                    assertThat(batch.isNullItem("marks", row, 1)).isFalse();
                    assertThat(batch.items("marks", row).get(1).getShort(0)).isEqualTo((short) (place & 0xFF));
                }
                assertThatThrownBy(() -> batch.ints("weight"))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("field 'weight' has the type float32, not an integer");
                assertThat(batch.values("marks")).isNotEmpty();
                assertThatThrownBy(() -> batch.isNullItem("tags", 0, 0)).hasMessageContaining("a list with null items");
                assertThatThrownBy(() -> batch.values("tags"))
                        .hasMessageContaining(
                                "field 'tags' has the type utf8[], not a type whose rows are bytes in sequence");
                assertThatThrownBy(() -> batch.decimal("at", 0))
                        .hasMessageContaining("field 'at' has the type timestamp[us,Europe/Berlin], not decimal");
                assertThatThrownBy(() -> batch.bytes("price", 0)).hasMessageContaining("decimal(20,2)");
                assertThatThrownBy(() -> batch.text("color", 0))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("there is no field 'color'");
                batch.close();
                assertThatThrownBy(batch::keys)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("is closed");
            }
        }
    }

    @Test
    void helloSaysWhatWasAskedFor() {
        Map<String, String> environment =
                Map.of("STOKER_FEED", feeder.address(), "STOKER_RUN", "12", "RANK", "1", "WORLD_SIZE", "2");
        FeedClientBuilder builder = FeedClient.ofEnvironment().environment(environment).stream("val")
                .group("second")
                .batchSize(4)
                .security(s -> s.token("secret"))
                .ranks(r -> r.replica(3));
        try (FeedClient feed = builder.open()) {
            Hello hello = feeder.hellos.peek();
            assertThat(hello.pass().stream()).contains("val");
            assertThat(hello.pass().group()).isEqualTo("second");
            assertThat(hello.pass().order().toJson()).isEqualTo("{\"batch_size\":4}");
            assertThat(hello.token()).contains("secret");
            assertThat(hello.participant()).isEqualTo(Participant.rank(1, 2));
            assertThat(hello.replica()).isEqualTo(3);
            assertThat(hello.run()).isEqualTo(12);
            assertThat(hello.client()).startsWith("stoker-java/");
            assertThat(feed.info().classes().get("label")).containsExactly("ant", "bee", "cat");
            assertThat(feed.info().batches()).isEqualTo(13);
            assertThat(feed.toString()).doesNotContain("secret");
        }
    }

    @Test
    void aPlaceThatStaysTakenIsATypedErrorThatSaysWhoHasIt() {
        feeder.refusal = Optional.of(new ErrorMessage("place_taken", "process 7 on host h reads; group=\"…\""));
        assertThatThrownBy(() -> feeder.client()
                        .timeouts(t -> t.placeTimeout(Duration.ofMillis(400)))
                        .open())
                .isInstanceOf(PlaceTakenException.class)
                .hasMessageContainingAll("process 7 on host h", "group=", "placeTimeout is 400 ms");
        assertThat(feeder.hellos.size()).as("it tried again").isGreaterThan(1);
        feeder.hellos.clear();
        assertThatThrownBy(() -> feeder.client()
                        .timeouts(t -> t.placeTimeout(Duration.ZERO))
                        .open())
                .isInstanceOf(PlaceTakenException.class);
        assertThat(feeder.hellos).hasSize(1);
    }

    @Test
    void helloNamesTheProcessAndItsLaunch() {
        Map<String, String> environment =
                Map.of("TORCHELASTIC_RUN_ID", "job", "TORCHELASTIC_RESTART_COUNT", "2", "SLURM_JOB_ID", "9");
        try (FeedClient feed = feeder.client().environment(environment).open()) {
            Hello hello = feeder.hellos.element();
            assertThat(hello.caller().instance().orElseThrow().pid())
                    .isEqualTo(ProcessHandle.current().pid());
            assertThat(hello.caller().launch()).contains(new Launch("torchelastic", "job", 2));
            assertThat(hello.caller().joined()).isZero();
            assertThat(feed.info().batches()).isPositive();
        }
        assertThat(Processes.launch(Map.of("TORCHELASTIC_RUN_ID", "none", "SLURM_JOB_ID", "9")))
                .contains(new Launch("slurm", "9", 0));
        assertThat(Processes.launch(Map.of("TORCHELASTIC_RUN_ID", "none"))).isEmpty();
        assertThatThrownBy(() -> Processes.launch(Map.of("SLURM_JOB_ID", "9", "SLURM_RESTART_COUNT", "many")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("SLURM_RESTART_COUNT=many is not a number of restarts; unset it");
        assertThatThrownBy(
                        () -> feeder.client().ranks(r -> r.run(Long.MAX_VALUE)).open())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("2^62");
    }

    @Test
    void aRefusalIsTyped() {
        Map<String, Class<? extends FeedException>> expected = Map.of(
                "fenced", FencedException.class,
                "unauthorized", FeedProtocolException.class,
                "order_mismatch", FeedProtocolException.class,
                "corrupt", CorruptBatchException.class,
                "internal", FeedProtocolException.class);
        expected.forEach((code, type) -> {
            feeder.refusal = Optional.of(new ErrorMessage(code, "because of " + code));
            assertThatThrownBy(feeder.client()::open).isInstanceOf(type).hasMessageContaining("because of " + code);
        });
    }

    @Test
    void aFeederThatIsStartingIsWaitedFor() {
        feeder.refusal = Optional.of(new ErrorMessage("origin_unavailable", "not yet"));
        Thread waiter = new Thread(() -> {
            Waiting.until(() -> feeder.hellos.size() >= 3);
            feeder.refusal = Optional.empty();
        });
        waiter.setDaemon(true);
        waiter.start();
        try (FeedClient feed = feeder.client().open()) {
            assertThat(read(feed)).hasSize(13);
        }
    }

    @Test
    void nobodyThereIsAnErrorInTime() {
        feeder.kill();
        assertThatThrownBy(() -> feeder.client()
                        .timeouts(t -> t.connectTimeout(Duration.ofMillis(300)))
                        .open())
                .isInstanceOf(ConnectTimeoutException.class)
                .hasMessageContaining(feeder.address())
                .hasMessageContaining("stoker ps");
    }
}
