package dev.stoker.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Ack;
import dev.stoker.schemas.protocol.AckEntry;
import dev.stoker.schemas.protocol.Batch;
import dev.stoker.schemas.protocol.Frame.Durable;
import dev.stoker.schemas.protocol.Frame.EpochEnd;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Frame.Ping;
import dev.stoker.schemas.protocol.Frame.Pong;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.server.feed.LedgerItem;
import dev.stoker.server.feed.ReceiptsItem;
import dev.stoker.server.feed.ServerOptions;
import dev.stoker.server.feed.SubscriptionItem;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Grants, receipts and trainers that stand still. */
class FlowTest {
    @TempDir
    Path directory;

    private TestFeed feed;

    @BeforeEach
    void makeDataset() throws IOException {
        TestDataset dataset = TestDataset.create(directory.resolve("data"), 3, 60_000, 40, 40, 40);
        feed = new TestFeed(dataset, "{\"batch_size\":8,\"lanes\":2}");
    }

    private static RawClient join(NodeLease node, int rank, int world) throws IOException {
        RawClient client = RawClient.connect(node.address());
        client.join(RawClient.hello(Participant.rank(rank, world), 0));
        return client;
    }

    @Test
    void sendsNothingBeyondTheGrantAndAnswersPingsMeanwhile() throws IOException {
        try (NodeLease node = feed.start();
                RawClient client = join(node, 0, 1)) {
            client.send(new Subscribe(1, 0, 0, 1, 15, TailPolicy.KEEP, List.of()));
            client.send(new Ping(1));
            assertThat(client.receive()).isEqualTo(new Pong(1));
            client.send(new Grant(1, 2));
            for (int number = 0; number <= 2; number++) {
                assertThat(client.expectIntact().header().identity().number()).isEqualTo(number);
            }
            client.send(new Grant(1, 1));
            client.send(new Ping(2));
            assertThat(client.receive())
                    .as("a smaller grant takes nothing back and adds nothing")
                    .isEqualTo(new Pong(2));
            client.send(new Grant(1, 3));
            assertThat(client.expectIntact().header().identity().number()).isEqualTo(3);
        }
    }

    @Test
    void epochEndComesOnceWithTheCounts() throws IOException {
        try (NodeLease node = feed.start();
                RawClient client = join(node, 0, 1)) {
            client.send(new Subscribe(1, 0, 15, 1, 0, TailPolicy.KEEP, List.of()));
            assertThat(client.receive()).isEqualTo(new EpochEnd(1, 0, 0, 0));
            client.send(new Subscribe(2, 0, 14, 1, 1, TailPolicy.KEEP, List.of()));
            client.send(new Grant(2, 14));
            client.expectIntact();
            assertThat(client.receive()).isEqualTo(new EpochEnd(2, 0, 1, 8));
            client.send(new Ping(1));
            assertThat(client.receive()).isEqualTo(new Pong(1));
        }
    }

    @Test
    void aStalledTrainerHurtsNobodyAndGoesOnWhereItWas() throws IOException {
        try (NodeLease node = feed.start();
                RawClient stalled = RawClient.connectNarrow(node.address());
                RawClient busy = join(node, 1, 2)) {
            stalled.join(RawClient.hello(Participant.rank(0, 2), 0));
            stalled.send(new Subscribe(1, 0, 0, 2, 8, TailPolicy.PAD, List.of()));
            stalled.send(new Grant(1, Long.MAX_VALUE));
            for (int epoch = 0; epoch < 20; epoch++) {
                assertThat(feed.readAll(busy, new Subscribe(1 + epoch, epoch, 1, 2, 8, TailPolicy.PAD, List.of())))
                        .hasSizeGreaterThanOrEqualTo(8);
            }
            int received = 0;
            while (stalled.receive() instanceof Batch batch) {
                feed.verify(batch, TailPolicy.PAD);
                received++;
            }
            assertThat(received).isGreaterThanOrEqualTo(8);
        }
    }

    @Test
    void aTrainerThatIsFencedWhileItStandsStillIsClosed() throws IOException {
        try (NodeLease node = feed.start();
                RawClient stalled = RawClient.connectNarrow(node.address())) {
            stalled.join(RawClient.hello(Participant.rank(0, 1), 5));
            for (int subscription = 1; subscription < 3; subscription++) {
                stalled.send(new Subscribe(subscription, 0, 0, 1, 15, TailPolicy.KEEP, List.of()));
                stalled.send(new Grant(subscription, Long.MAX_VALUE));
            }
            Waiting.until(() -> node.metrics().batches() > 0);
            try (RawClient newer = RawClient.connect(node.address())) {
                newer.join(RawClient.hello(Participant.rank(0, 1), 6));
                Waiting.until(() -> node.metrics().sessions() == 1);
                assertThat(feed.readAll(newer, new Subscribe(1, 0, 0, 1, 15, TailPolicy.KEEP, List.of())))
                        .hasSizeGreaterThanOrEqualTo(15);
            }
        }
    }

    @Test
    void receiptsReachTheLedgerWithTheirSubscriptionAndBecomeDurable() throws IOException {
        try (NodeLease node = feed.start();
                RawClient client = join(node, 0, 1)) {
            client.send(new Subscribe(1, 3, 0, 1, 15, TailPolicy.PAD, List.of()));
            client.send(new Grant(1, 1));
            List<Batch> batches = List.of(client.expectIntact(), client.expectIntact());
            for (Batch batch : batches) {
                client.send(TestFeed.ack(batch));
            }
            List<LedgerItem> items = new ArrayList<>();
            Waiting.until(() -> node.drainAcks(items::add, 100) >= 0 && items.size() == 3);
            SubscriptionItem subscription = (SubscriptionItem) items.get(0);
            assertThat(subscription.epoch()).isEqualTo(3);
            assertThat(subscription.asked().count()).isEqualTo(15);
            assertThat(subscription.asked().tail()).isEqualTo(TailPolicy.PAD);
            assertThat(subscription.fingerprint()).hasSize(32);
            assertThat(subscription.identity().stream()).isEqualTo("train");
            for (int i = 0; i < 2; i++) {
                ReceiptsItem receipts = (ReceiptsItem) items.get(1 + i);
                assertThat(receipts.epoch()).isEqualTo(3);
                assertThat(receipts.count()).isEqualTo(1);
                assertThat(receipts.number(0)).isEqualTo(i);
                assertThat(receipts.piece(0)).isZero();
                assertThat(receipts.crc(0)).isEqualTo(batches.get(i).header().crc());
                assertThat(receipts.rows(0)).isEqualTo(8);
                assertThat(receipts.skipped(0)).isZero();
                assertThat(receipts.repeated(0)).isFalse();
            }
            assertThat(client.hasInput())
                    .as("nothing is durable before a checkpoint")
                    .isFalse();
            node.markDurable(node.drainToken());
            assertThat(client.receive()).isEqualTo(new Durable(2));
        }
    }

    @Test
    void receiptsOfAReaderThatFailedAreDrainedByTheNext() throws IOException {
        try (NodeLease node = feed.start();
                RawClient client = join(node, 0, 1)) {
            client.send(new Subscribe(1, 0, 0, 1, 15, TailPolicy.PAD, List.of()));
            client.send(new Grant(1, 0));
            client.send(TestFeed.ack(client.expectIntact()));
            List<LedgerItem> first = new ArrayList<>();
            try (NodeLease failing = feed.start()) {
                Waiting.until(() -> failing.drainAcks(first::add, 100) >= 0 && first.size() == 2);
            }
            List<LedgerItem> second = new ArrayList<>();
            assertThat(node.acksAvailable()).succeedsWithin(Duration.ofSeconds(10));
            node.drainAcks(second::add, 100);
            assertThat(second).isEqualTo(first);
            node.markDurable(node.drainToken());
            assertThat(client.receive()).isEqualTo(new Durable(1));
        }
    }

    @Test
    void whenReceiptsFindNoRoomDataGoesOnAndTheTrainerReconnectsLater() throws IOException {
        // A trainer may hold half: its subscription (13 entries, with its order) and three receipts (9 each), but not
        // four.
        ServerOptions options = TestFeed.options().withLimits(10, 1 << 30, 100, 90);
        try (NodeLease node = FeedNode.acquire(feed.spec(), options);
                RawClient client = join(node, 0, 1)) {
            client.send(new Subscribe(1, 0, 0, 1, 15, TailPolicy.KEEP, List.of()));
            client.send(new Grant(1, 14));
            for (int number = 0; number < 15; ) {
                Batch batch = client.expectIntact();
                client.send(TestFeed.ack(batch));
                number += batch.header().identity().piece() + 1
                                == batch.header().identity().pieces()
                        ? 1
                        : 0;
            }
            List<LedgerItem> items = new ArrayList<>();
            Waiting.until(() -> node.drainAcks(items::add, 100) >= 0 && items.size() == 4);
            client.expect(EpochEnd.class);
            client.send(new Ping(1));
            assertThat(client.receive()).isEqualTo(new Pong(1));
            node.markDurable(node.drainToken());
            assertThat(client.receive()).isEqualTo(new Durable(3));
            assertThatThrownBy(() -> client.expect(LaneMap.class))
                    .hasMessageContaining("shutting_down")
                    .hasMessageContaining("repeat");
        }
    }

    @Test
    void waitingTimeIsThatOfATrainerWithNothingLeft() throws IOException {
        try (NodeLease node = feed.start();
                RawClient client = join(node, 0, 1)) {
            assertThat(node.metrics().trainerWaitRatio()).isZero();
            client.send(new Subscribe(1, 0, 0, 1, 15, TailPolicy.PAD, List.of()));
            client.send(new Grant(1, 0));
            client.expectIntact();
            assertThat(node.metrics().trainerWaitRatio()).isBetween(0.0, 1.0);
            assertThat(node.idleSince()).isEmpty();
        }
        try (NodeLease node = feed.start()) {
            assertThat(node.idleSince()).isPresent();
        }
    }

    @Test
    void acknowledgementsOfAnEarlierConnectionAreTakenWithASubscriptionOfTheirOwn() throws IOException {
        try (NodeLease node = feed.start();
                RawClient client = join(node, 0, 1)) {
            client.send(new Subscribe(1, 5, 3, 1, 12, TailPolicy.PAD, List.of()));
            client.send(new Ack(1, 4, List.of(ack(12, false), ack(13, false), ack(15, true))));
            client.send(new Ack(1, 5, List.of(ack(2, false), ack(3, false))));
            client.send(new Ack(1, 4, List.of(ack(13, false))));
            List<LedgerItem> items = new ArrayList<>();
            Waiting.until(() -> node.drainAcks(items::add, 100) >= 0 && items.size() == 6);
            // The subscriptions of the connection before may have died with its feeder.
            SubscriptionItem lost = (SubscriptionItem) items.get(1);
            assertThat(lost.epoch()).isEqualTo(4);
            assertThat(List.of(
                            lost.asked().first(),
                            lost.asked().stride(),
                            lost.asked().count()))
                    .containsExactly(12L, 1L, 4L);
            assertThat(items.get(2).epoch()).isEqualTo(4);
            assertThat(((ReceiptsItem) items.get(2)).repeated(2)).isTrue();
            SubscriptionItem before = (SubscriptionItem) items.get(3);
            assertThat(List.of(
                            before.epoch(),
                            before.asked().first(),
                            before.asked().count()))
                    .containsExactly(5L, 2L, 1L);
            assertThat(((ReceiptsItem) items.get(4)).count()).isEqualTo(2);
            assertThat(items.get(5)).isInstanceOf(ReceiptsItem.class);
        }
    }

    @Test
    void onlyASubscriptionToTheEpochsEndHasAnEnd() throws IOException {
        try (NodeLease node = feed.start();
                RawClient client = join(node, 1, 2)) {
            client.send(new Subscribe(1, 0, 1, 2, 7, TailPolicy.KEEP, List.of()));
            client.send(new Subscribe(2, 0, 3, 2, 3, TailPolicy.KEEP, List.of()));
            client.send(new Ack(2, 5, List.of(ack(1, false))));
            client.send(new Subscribe(3, 0, 15, 2, 0, TailPolicy.KEEP, List.of()));
            client.send(new Subscribe(4, 0, 1, 2, 8, TailPolicy.PAD, List.of()));
            client.send(new Subscribe(5, 0, 1, 2, 7, TailPolicy.DROP, List.of()));
            List<LedgerItem> items = new ArrayList<>();
            Waiting.until(() -> node.drainAcks(items::add, 100) >= 0 && items.size() == 7);
            assertThat(items)
                    .filteredOn(SubscriptionItem.class::isInstance)
                    .extracting(item -> ((SubscriptionItem) item).end())
                    .containsExactly(
                            OptionalLong.of(13),
                            OptionalLong.empty(),
                            OptionalLong.empty(),
                            OptionalLong.of(13),
                            OptionalLong.of(15),
                            OptionalLong.of(13));
            assertThat(((ReceiptsItem) items.get(3)).last()).isEqualTo(-1);
        }
    }

    @Test
    void acknowledgementsOfAnotherRankAreRefused() throws IOException {
        try (NodeLease node = feed.start();
                RawClient client = join(node, 1, 2)) {
            client.send(new Subscribe(1, 0, 1, 2, 4, TailPolicy.PAD, List.of()));
            client.send(new Ack(1, 0, List.of(ack(4, false))));

            assertThatThrownBy(() -> client.expect(Batch.class)).hasMessageContaining("number 4 is one of rank 0");
        }
    }

    private static AckEntry ack(long number, boolean repeated) {
        return new AckEntry(number, 0, repeated, 99, 8, 0, 8, 0);
    }
}
