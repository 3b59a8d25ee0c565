package dev.stoker.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.VersionUses;
import dev.stoker.schemas.dataset.VersionUse;
import dev.stoker.schemas.order.Fingerprint;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Ack;
import dev.stoker.schemas.protocol.Batch;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.server.feed.FeedSpec;
import dev.stoker.server.feed.FeedStatus;
import dev.stoker.server.feed.LedgerItem;
import dev.stoker.server.feed.ReceiptsItem;
import dev.stoker.server.feed.SubscriptionItem;
import dev.stoker.server.session.FeedServer;
import dev.stoker.server.tiers.TierOptions;
import dev.stoker.server.tiers.TierSpec;
import dev.stoker.server.tiers.files.CacheAccess;
import dev.stoker.server.tiers.files.CacheLifetime;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a feed that follows its dataset: which version an epoch reads, and that all trainers get the same version. */
class FollowTest {
    @TempDir
    Path directory;

    private TestDataset dataset;
    private TestFeed feed;
    private NodeLease node;

    @BeforeEach
    void start() throws IOException {
        dataset = TestDataset.create(directory.resolve("data"), 1, 50, 20, 20);
        feed = new TestFeed(dataset, "{\"batch_size\":4,\"lanes\":4}");
        node = FeedNode.acquire(feed.following(), TestFeed.options());
    }

    @AfterEach
    void stop() {
        node.close();
    }

    private static Subscribe all(Welcome welcome, int id) {
        long epoch = welcome.session().epoch().orElseThrow();
        return new Subscribe(id, epoch, 0, 1, welcome.size().batches(), TailPolicy.KEEP, List.of());
    }

    private static Hello hello(long epoch, long version) {
        return RawClient.hello().at(epoch, version == 0 ? OptionalLong.empty() : OptionalLong.of(version));
    }

    /** Reads an epoch over a separate connection, and checks all of its bytes. */
    private long read(long epoch, TestFeed expected) throws IOException {
        try (RawClient client = RawClient.connect(node.address())) {
            Welcome welcome = client.join(hello(epoch, 0));
            assertThat(welcome.session().epoch()).hasValue(epoch);
            assertThat(welcome.pass().samples())
                    .isEqualTo(expected.streamOrder.size().samples());
            assertThat(welcome.columns().classes().get("label")).isEqualTo(expected.classes);
            assertThat(expected.readAll(client, all(welcome, 1))).isNotEmpty();
            return welcome.stream().version();
        }
    }

    private void refused(Hello hello, String code, String... text) throws IOException {
        try (RawClient client = RawClient.connect(node.address())) {
            assertThatThrownBy(() -> client.join(hello))
                    .isInstanceOfSatisfying(
                            RawClient.Ended.class, e -> assertThat(e.code()).isEqualTo(code))
                    .hasMessageContainingAll(text);
        }
    }

    @Test
    void anEpochReadsWhatWasNewestWhenItWasFirstAskedFor() throws IOException {
        assertThat(read(0, feed)).isEqualTo(1);
        dataset.append(2, 50, 9, 30, 5);
        assertThat(read(0, feed)).isEqualTo(1);
        TestFeed later = feed.now();
        assertThat(later.streamOrder.lanes()).isGreaterThan(feed.streamOrder.lanes());
        assertThat(later.classes).hasSizeGreaterThan(feed.classes.size()).startsWith(feed.classes.get(0));
        assertThat(read(1, later)).isEqualTo(2);
        assertThat(read(0, feed)).isEqualTo(1);
    }

    @Test
    void theVersionsThatItReadsAreProtectedFromBeingExpired() throws IOException {
        dataset.append(2, 50, 9, 30, 5);
        read(0, feed.now());
        try (ObjectStore store = new LocalObjectStore(dataset.path())) {
            assertThat(new VersionUses(Dataset.open(store)).all())
                    .extracting(VersionUse::version)
                    .containsExactlyInAnyOrder(1L, 2L);
        }
    }

    @Test
    void aSessionHasOneEpoch() throws IOException {
        try (RawClient client = RawClient.connect(node.address())) {
            client.join(hello(3, 0));
            client.send(new Subscribe(1, 4, 0, 1, 1, TailPolicy.KEEP, List.of()));
            assertThatThrownBy(() -> client.expect(LaneMap.class))
                    .hasMessageContainingAll("bad_frame", "epoch 4", "bound to epoch 3");
        }
        dataset.append(2, 50, 9);
        try (RawClient client = RawClient.connect(node.address())) {
            Welcome looked = client.join(RawClient.hello());
            assertThat(looked.session().follows()).isTrue();
            assertThat(looked.session().epoch()).isEmpty();
            assertThat(looked.stream().version()).isEqualTo(2);
            client.send(new Subscribe(1, 0, 0, 1, 1, TailPolicy.KEEP, List.of()));
            assertThatThrownBy(() -> client.expect(LaneMap.class))
                    .hasMessageContainingAll("unsupported_protocol", "follows its dataset", "which epoch");
        }
        // A look does not choose a version.
        dataset.append(3, 50, 9);
        assertThat(read(4, feed.now())).isEqualTo(3);
    }

    @Test
    void aStateDecidesOnceAndOtherStatesAreRefused() throws IOException {
        dataset.append(2, 50, 9);
        dataset.append(3, 50, 9);
        refused(hello(5, 4), "version_mismatch", "no version 4");
        try (RawClient client = RawClient.connect(node.address())) {
            assertThat(client.join(hello(5, 2)).stream().version()).isEqualTo(2);
        }
        refused(
                hello(5, 3),
                "version_mismatch",
                "epoch 5",
                "version 2 here",
                "version 3 in the trainer's state",
                "another group");
        assertThat(read(6, feed.now())).isEqualTo(3);
    }

    @Test
    void twoServersAgreeWhileAVersionIsCommitted() throws Exception {
        FeedSpec spec = feed.following();
        ExecutorService threads = Executors.newFixedThreadPool(5);
        try (FeedServer other =
                new FeedServer(spec, TestFeed.options(), new DatasetStreams(spec.id(), spec.streams()))) {
            for (int i = 0; i < 8; i++) {
                long epoch = i;
                CyclicBarrier start = new CyclicBarrier(5);
                List<Callable<Long>> ranks = new ArrayList<>();
                for (int rank = 0; rank < 4; rank++) {
                    String address = rank % 2 == 0 ? node.address() : other.address();
                    Hello hello = RawClient.hello(Participant.rank(rank, 4), 7).at(epoch);
                    ranks.add(() -> {
                        try (RawClient client = RawClient.connect(address)) {
                            start.await();
                            return client.join(hello).stream().version();
                        }
                    });
                }
                ranks.add(() -> {
                    start.await();
                    dataset.append(epoch, 10, 3);
                    return 0L;
                });
                List<Long> versions = new ArrayList<>();
                for (Future<Long> version : threads.invokeAll(ranks)) {
                    versions.add(version.get());
                }
                assertThat(versions.subList(0, 4))
                        .containsOnly(versions.get(0))
                        .first()
                        .isIn(epoch + 1, epoch + 2);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void lateReceiptsBelongToTheVersionOfTheirEpoch() throws IOException {
        List<Batch> batches = new ArrayList<>();
        try (RawClient client = RawClient.connect(node.address())) {
            Welcome welcome =
                    client.join(RawClient.hello(Participant.rank(0, 1), 7).at(0));
            client.send(all(welcome, 1));
            client.send(new Grant(1, 1));
            batches.add(client.expectIntact());
        }
        String before = fingerprint(feed);
        dataset.append(2, 50, 9);
        String now = fingerprint(feed.now());
        try (RawClient client = RawClient.connect(node.address())) {
            Welcome welcome =
                    client.join(RawClient.hello(Participant.rank(0, 1), 7).at(1));
            client.send(all(welcome, 2));
            client.send(TestFeed.ack(batches.get(0)));
            client.send(new Grant(2, 0));
            Batch next = client.expectIntact();
            client.send(TestFeed.ack(next));
            List<LedgerItem> items = new ArrayList<>();
            Waiting.until(() -> {
                node.drainAcks(items::add, 100);
                return items.stream()
                                .filter(item -> item instanceof ReceiptsItem)
                                .count()
                        == 2;
            });
            assertThat(items).allSatisfy(item -> {
                assertThat(item.fingerprint()).isEqualTo(item.epoch() == 0 ? before : now);
                if (item instanceof SubscriptionItem subscription) {
                    assertThat(subscription.version()).isEqualTo(item.epoch() + 1);
                }
            });
            assertThat(items).extracting(LedgerItem::epoch).contains(0L, 1L);
            client.send(new Ack(2, 9, TestFeed.ack(next).entries()));
            assertThatThrownBy(() -> client.expect(LaneMap.class))
                    .hasMessageContainingAll("bad_frame", "epoch 9", "never begun");
        }
    }

    private static String fingerprint(TestFeed of) throws IOException {
        return Fingerprint.of(of.dataset.id(), of.dataset.version(), "train", of.streamOrder.chunks(), of.order)
                .text();
    }

    @Test
    void aDamagedChoiceIsNamedAndALostOneComesBackFromTheState() throws IOException {
        assertThat(read(0, feed)).isEqualTo(1);
        node.close();
        Path choice;
        try (Stream<Path> files = Files.walk(dataset.path().resolve("_stoker/feeds"))) {
            choice = files.filter(file -> file.toString().endsWith(".json"))
                    .findFirst()
                    .orElseThrow();
        }
        byte[] right = Files.readAllBytes(choice);
        byte[] wrong = right.clone();
        wrong[wrong.length / 2] ^= 4;
        Files.write(choice, wrong);
        node = FeedNode.acquire(feed.following(), TestFeed.options());
        refused(hello(0, 0), "corrupt", choice.toString(), "delete it");
        Files.delete(choice);
        dataset.append(2, 50, 9);
        try (RawClient client = RawClient.connect(node.address())) {
            assertThat(client.join(hello(0, 1)).stream().version()).isEqualTo(1);
        }
        assertThat(read(0, feed)).isEqualTo(1);
    }

    @Test
    void whatDidNotChangeStaysInTheTiers() throws IOException {
        node.close();
        TierOptions memory = new TierOptions(
                Optional.of(TierSpec.parse(List.of("memory:8m"))), CacheLifetime.FEED, CacheAccess.USER, false, 0, 4);
        node = FeedNode.acquire(feed.following(), TestFeed.options().withTiers(memory));
        read(0, feed);
        long reads = node.metrics().originReads();
        read(1, feed);
        assertThat(node.metrics().originReads()).isEqualTo(reads);
        dataset.append(2, 50, 9, 9);
        read(2, feed.now());
        // Only the two new chunks are read, and not the two old ones.
        assertThat(node.metrics().originReads()).isEqualTo(reads + 2);
    }

    @Test
    void theStatusShowsTheVersionOfTheEpoch() throws IOException {
        dataset.append(2, 50, 9);
        try (RawClient client = RawClient.connect(node.address())) {
            client.join(hello(0, 0));
            assertThat(node.status().groups())
                    .extracting(FeedStatus.Group::version)
                    .containsExactly(2L);
        }
    }
}
