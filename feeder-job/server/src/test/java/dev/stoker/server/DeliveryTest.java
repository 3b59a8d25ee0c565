package dev.stoker.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.order.EpochSize;
import dev.stoker.schemas.order.delivery.DeliveredBatch;
import dev.stoker.schemas.order.delivery.Delivery;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.SkipList;
import dev.stoker.schemas.order.delivery.SkippedBatches;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Batch;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.server.feed.FeedSpec;
import dev.stoker.server.feed.OnCorrupt;
import dev.stoker.server.feed.ServerOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class DeliveryTest {
    @TempDir
    Path directory;

    private TestFeed feed;

    @BeforeEach
    void makeDataset() throws IOException {
        TestDataset dataset = TestDataset.create(directory.resolve("data"), 7, 300, 9, 14, 3, 11, 8, 12, 1, 10, 13, 7);
        feed = new TestFeed(dataset, "{\"batch_size\":6,\"lanes\":3,\"shuffle_window\":12000,\"seed\":5}");
    }

    /** A trainer's whole part of an epoch from a position on, checked byte for byte against the order. */
    private List<String> read(
            NodeLease node, Participant participant, TailPolicy tail, long epoch, long start, List<Integer> lanes)
            throws IOException {
        try (RawClient client = RawClient.connect(node.address())) {
            client.join(RawClient.hello(participant, 0));
            Delivery delivery = new Delivery(feed.streamOrder.size(), tail, participant, start);
            return feed.readAll(
                    client,
                    new Subscribe(3, epoch, delivery.first(), delivery.stride(), delivery.steps(), tail, lanes));
        }
    }

    private List<String> expected(Participant participant, TailPolicy tail, long epoch, long start) {
        Delivery delivery = new Delivery(feed.streamOrder.size(), tail, participant, start);
        List<String> names = new ArrayList<>();
        for (long i = 0; i < delivery.steps(); i++) {
            DeliveredBatch batch = feed.batch(epoch, delivery.number(i), tail);
            for (int piece = 0; piece < batch.pieces().size(); piece++) {
                names.add(batch.number() + "." + piece);
            }
        }
        return names;
    }

    @ParameterizedTest
    @CsvSource({"1,1", "2,1", "3,1", "8,1", "1,2", "3,2"})
    void deliversEveryRanksPartByteForByte(int world, int workers) throws IOException {
        try (NodeLease node = feed.start()) {
            for (long epoch = 0; epoch < 3; epoch++) {
                for (int rank = 0; rank < world; rank++) {
                    for (int worker = 0; worker < workers; worker++) {
                        Participant participant = new Participant(rank, world, worker, workers);
                        assertThat(read(node, participant, TailPolicy.PAD, epoch, 0, List.of()))
                                .isEqualTo(expected(participant, TailPolicy.PAD, epoch, 0));
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(TailPolicy.class)
    void resumesAtEveryPosition(TailPolicy tail) throws IOException {
        try (NodeLease node = feed.start()) {
            long batches = feed.streamOrder.size().batches();
            for (long start = 0; start <= batches; start++) {
                for (int rank = 0; rank < 2; rank++) {
                    Participant participant = Participant.rank(rank, 2);
                    assertThat(read(node, participant, tail, 1, start, List.of()))
                            .as("from %d", start)
                            .isEqualTo(expected(participant, tail, 1, start));
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(TailPolicy.class)
    void batchesThatATrainerSkipsAreNotSent(TailPolicy tail) throws IOException {
        SkipList skip = SkipList.of(List.of(new SkipList.Range(1, 0, 1), new SkipList.Range(1, 7, 9)));
        EpochSize size = feed.streamOrder.size();
        SkippedBatches skipped = skip.in(1, size);
        long left = tail == TailPolicy.DROP ? skipped.wholeBatches(size) : skipped.left();
        try (NodeLease node = feed.start()) {
            for (int rank = 0; rank < 3; rank++) {
                Participant participant = Participant.rank(rank, 3);
                Delivery slots = new Delivery(new EpochSize(left, 1), tail, participant, 0);
                List<String> expected = new ArrayList<>();
                for (long step = 0; step < slots.steps(); step++) {
                    DeliveredBatch batch = feed.batch(1, skipped.number(slots.number(step)), tail);
                    for (int piece = 0; piece < batch.pieces().size(); piece++) {
                        expected.add(batch.number() + "." + piece);
                    }
                }
                try (RawClient client = RawClient.connect(node.address())) {
                    client.join(RawClient.hello(participant, 0).skipping(skip));
                    long first = skipped.number(slots.first());
                    assertThat(feed.readAll(client, new Subscribe(3, 1, first, 3, slots.steps(), tail, List.of())))
                            .isEqualTo(expected);
                    if (skipped.contains(rank)) {
                        client.send(new Subscribe(4, 1, rank, 3, 1, tail, List.of()));
                        assertThatThrownBy(() -> client.expect(Batch.class)).hasMessageStartingWith("bad_frame");
                    }
                }
            }
        }
    }

    @Test
    void anyNodeServesAnyLaneAndTwoTogetherServeAll() throws IOException {
        Participant alone = Participant.rank(0, 1);
        List<String> names = new ArrayList<>();
        try (NodeLease node = feed.start()) {
            for (int lane = 0; lane < 3; lane++) {
                names.addAll(read(node, alone, TailPolicy.KEEP, 0, 0, List.of(lane)));
            }
            assertThat(names).containsExactlyInAnyOrderElementsOf(expected(alone, TailPolicy.KEEP, 0, 0));
            feed.name = "another node";
            // Another id, because one process has one node of a feed.
            try (NodeLease other = feed.start()) {
                assertThat(read(other, alone, TailPolicy.KEEP, 0, 0, List.of()))
                        .isEqualTo(expected(alone, TailPolicy.KEEP, 0, 0));
            }
        }
    }

    @Test
    void batchesOfMoreRowsThanOneGatheringWriteTakes() throws IOException {
        TestDataset many = TestDataset.create(directory.resolve("many"), 7, 20, 900, 1100, 800, 700);
        feed = new TestFeed(many, "{\"batch_size\":3000,\"lanes\":1}");
        try (NodeLease node = feed.start()) {
            assertThat(read(node, Participant.rank(0, 1), TailPolicy.PAD, 2, 0, List.of()))
                    .isEqualTo(expected(Participant.rank(0, 1), TailPolicy.PAD, 2, 0));
        }
    }

    @Test
    void removedRowsAndChunksAreLeftOut() throws IOException {
        feed.dataset.remove(1, 0, 3, 13);
        feed.dataset.removeChunk(4);
        feed.dataset.remove(6, 0);
        feed = new TestFeed(feed.dataset, feed.order.toJson());
        assertThat(feed.streamOrder.size().samples()).isEqualTo(88 - 3 - 8 - 1);
        try (NodeLease node = feed.start()) {
            assertThat(read(node, Participant.rank(0, 1), TailPolicy.KEEP, 0, 0, List.of()))
                    .isEqualTo(expected(Participant.rank(0, 1), TailPolicy.KEEP, 0, 0));
        }
    }

    @Test
    void trainersFarApartShareALittleWorkingMemory() throws Exception {
        // Room for the windows of two trainers or so; eight at different epochs push each other's windows out.
        ServerOptions options = TestFeed.options().withLimits(100, 50_000, 3, 1000);
        try (NodeLease node = FeedNode.acquire(feed.spec(), options)) {
            ExecutorService trainers = Executors.newFixedThreadPool(8);
            try {
                List<Future<List<String>>> all = new ArrayList<>();
                for (int rank = 0; rank < 8; rank++) {
                    Participant participant = Participant.rank(rank, 8);
                    long epoch = rank;
                    all.add(trainers.submit(() -> {
                        List<String> names = new ArrayList<>();
                        for (int round = 0; round < 5; round++) {
                            names = read(node, participant, TailPolicy.PAD, epoch, 0, List.of());
                        }
                        return names;
                    }));
                }
                for (int rank = 0; rank < 8; rank++) {
                    assertThat(all.get(rank).get())
                            .isEqualTo(expected(Participant.rank(rank, 8), TailPolicy.PAD, rank, 0));
                }
            } finally {
                trainers.shutdownNow();
            }
            assertThat(node.metrics().workingBytes()).isLessThanOrEqualTo(50_000);
            Waiting.until(() -> node.metrics().sessions() == 0);
            assertThat(node.metrics().mappings()).isLessThanOrEqualTo(3);
            assertThat(node.metrics().openWindows()).isZero();
        }
    }

    @Test
    void welcomeSaysWhatTheStreamIs() throws IOException {
        try (NodeLease node = feed.start();
                RawClient client = RawClient.connect(node.address())) {
            Welcome welcome = client.join(RawClient.hello());
            assertThat(welcome.pass().samples()).isEqualTo(88);
            assertThat(welcome.pass().order()).isEqualTo(feed.order);
            assertThat(welcome.pass().laneRows()).hasSize(3);
            assertThat(welcome.columns().classes().get("label")).isEqualTo(feed.classes);
            assertThat(welcome.laneMap().addresses()).containsExactly(node.address());
            assertThat(welcome.laneMap().lanes()).hasSize(3);
            assertThat(welcome.feed().name()).isEqualTo("test");
            assertThat(welcome.stream().split()).isEqualTo("train");
            assertThat(welcome.pass().largestBatchBytes()).isGreaterThan(6 * 100);
        }
    }

    @Test
    void oneFeedServesSeveralStreams() throws IOException {
        TestFeed val = new TestFeed(TestDataset.create(directory.resolve("val"), 8, 100, 5, 4), feed.order.toJson());
        FeedSpec both = new FeedSpec(
                UUID.randomUUID(),
                "test",
                List.of(feed.dataset.stream("train"), val.dataset.stream("val")),
                feed.order.toJson(),
                List.of(),
                OptionalLong.empty(),
                OnCorrupt.FAIL);
        try (NodeLease node = FeedNode.acquire(both, TestFeed.options());
                RawClient first = RawClient.connect(node.address());
                RawClient second = RawClient.connect(node.address())) {
            Hello hello = RawClient.hello();
            assertThat(first.join(hello).stream().name()).isEqualTo("train");
            Welcome welcome = second.join(new Hello(
                    hello.token(),
                    hello.client(),
                    new Hello.PassRequest(
                            hello.pass().feed(),
                            Optional.of("val"),
                            hello.pass().group(),
                            hello.pass().order()),
                    hello.participant(),
                    0,
                    0));
            assertThat(welcome.stream().dataset()).isEqualTo(val.dataset.id());
            assertThat(welcome.pass().samples()).isEqualTo(9);
            second.send(new Subscribe(1, 0, 0, 1, 2, TailPolicy.KEEP, List.of()));
            second.send(new Grant(1, 1));
            Batch batch = second.expectIntact();
            assertThat(batch.message())
                    .isEqualTo(NaiveBatch.of(
                            val.samples(
                                    0, val.batch(0, 0, TailPolicy.KEEP).pieces().get(0)),
                            val.classes));
        }
    }

    @Test
    void aNewSubscriptionReplacesTheOld() throws IOException {
        try (NodeLease node = feed.start();
                RawClient client = RawClient.connect(node.address())) {
            client.join(RawClient.hello());
            long batches = feed.streamOrder.size().batches();
            client.send(new Subscribe(1, 0, 0, 1, batches, TailPolicy.KEEP, List.of()));
            assertThat(feed.readAll(client, new Subscribe(2, 4, 0, 1, batches, TailPolicy.KEEP, List.of())))
                    .isEqualTo(expected(Participant.rank(0, 1), TailPolicy.KEEP, 4, 0));
        }
    }

    @Test
    void windowsAreDroppedWhenNobodyIsInThem() throws IOException {
        try (NodeLease node = feed.start()) {
            for (long epoch = 0; epoch < 5; epoch++) {
                read(node, Participant.rank(0, 1), TailPolicy.PAD, epoch, 0, List.of());
            }
            Waiting.until(() -> node.metrics().sessions() == 0);
            assertThat(node.metrics().openWindows()).isZero();
            assertThat(node.metrics().workingBytes()).isZero();
            assertThat(node.metrics().rows()).isEqualTo(5 * 90L);
        }
    }
}
