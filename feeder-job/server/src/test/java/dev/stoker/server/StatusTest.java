package dev.stoker.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Batch;
import dev.stoker.schemas.protocol.Delay;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.EpochEnd;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Stats;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.server.chunks.ChunkSources;
import dev.stoker.server.feed.FeedStatus;
import dev.stoker.server.window.ServedStream;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a node says of itself, and to trainers of what their pieces cost. */
class StatusTest {
    private static final Stats STATS = new Stats(
            60_000_000,
            3_000_000,
            10,
            60,
            1 << 20,
            Map.of("disk", 3_000_000L),
            List.of(new Stats.Wait("10.0.0.2:7420", 3, "disk", 3_000_000, 12)));

    @TempDir
    Path directory;

    private TestFeed feed;
    private InMemoryObjectStore remote;
    /** What each read of the remote store takes. */
    private final AtomicLong latencyNanos = new AtomicLong();

    @BeforeEach
    void makeDataset() throws IOException {
        TestDataset dataset = TestDataset.create(directory.resolve("data"), 7, 300, 9, 14, 3, 11, 8, 12, 1, 10, 13, 7);
        feed = new TestFeed(dataset, "{\"batch_size\":6,\"lanes\":3,\"shuffle_window\":12000,\"seed\":5}");
        remote = new InMemoryObjectStore();
        for (int chunk = 0; chunk < 10; chunk++) {
            Path file = dataset.file(chunk);
            remote.createIfAbsent(dataset.path().relativize(file).toString(), Files.readAllBytes(file));
        }
    }

    private NodeLease startRemote() throws IOException {
        return FeedNode.acquire(feed.spec(), TestFeed.options(), this::open);
    }

    private List<ServedStream> open(ChunkSources sources) throws IOException {
        Snapshot snapshot =
                Dataset.open(new LocalObjectStore(feed.dataset.path())).snapshot(feed.dataset.version());
        return List.of(new ServedStream(
                "train",
                feed.dataset.id(),
                "data",
                1,
                "train",
                snapshot.stream("train"),
                TestDataset.FIELDS,
                snapshot.classes(),
                sources.of(slow())));
    }

    private ObjectStore slow() {
        return (ObjectStore) Proxy.newProxyInstance(
                ObjectStore.class.getClassLoader(), new Class<?>[] {ObjectStore.class}, (proxy, method, args) -> {
                    if (method.getName().equals("read")) {
                        long end = System.nanoTime() + latencyNanos.get();
                        while (System.nanoTime() < end) {
                            LockSupport.parkNanos(100_000);
                        }
                    }
                    try {
                        return method.invoke(remote, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private long batches() {
        return feed.streamOrder.size().batches();
    }

    /** Reads an epoch. Returns the reported delays. */
    private List<Delay> read(RawClient client, long epoch, int rank, int world) throws IOException {
        long count = (batches() - rank + world - 1) / world;
        client.send(new Subscribe(epoch + 1, epoch, rank, world, count, TailPolicy.KEEP, List.of()));
        client.send(new Grant(epoch + 1, Long.MAX_VALUE));
        List<Delay> delays = new ArrayList<>();
        Batch last = null;
        while (true) {
            Frame frame = client.receive();
            if (frame instanceof Batch batch) {
                feed.verify(batch, TailPolicy.KEEP);
                client.send(TestFeed.ack(batch));
                last = batch;
            } else if (frame instanceof Delay delay) {
                assertThat(delay.number())
                        .as("it follows its piece")
                        .isEqualTo(last.header().identity().number());
                assertThat(delay.piece()).isEqualTo(last.header().identity().piece());
                assertThat(delay.epoch()).isEqualTo(epoch);
                assertThat(delay.subscription()).isEqualTo(epoch + 1);
                delays.add(delay);
            } else if (frame instanceof EpochEnd) {
                return delays;
            }
        }
    }

    @Test
    void aTrainerThatWantsToKnowIsToldWhatASlowOriginCost() throws IOException {
        latencyNanos.set(TimeUnit.MILLISECONDS.toNanos(200));
        try (NodeLease node = startRemote();
                RawClient client = RawClient.connect(node.address())) {
            client.join(RawClient.hello());
            client.send(STATS);
            List<Delay> delays = read(client, 0, 0, 1);
            // A loaded machine may hold up pieces that read nothing.
            assertThat(delays)
                    .isNotEmpty()
                    .allMatch(delay -> delay.originUs() + delay.diskUs() + delay.feederUs() >= 999);
            assertThat(delays).allMatch(delay -> delay.diskUs() == 0);
            // One read at least before the first piece, but for what passed before it was waited for.
            assertThat(delays.get(0).originUs()).isGreaterThanOrEqualTo(10_000);
            FeedStatus.Rank rank = node.status().groups().get(0).ranks().get(0);
            assertThat(rank.server().origin())
                    .isGreaterThanOrEqualTo(TimeUnit.MICROSECONDS.toNanos(
                            delays.stream().mapToLong(Delay::originUs).sum()));
            assertThat(rank.server().disk()).isZero();
        }
    }

    @Test
    void aTrainerThatDoesNotAskIsToldNothing() throws IOException {
        latencyNanos.set(TimeUnit.MILLISECONDS.toNanos(5));
        try (NodeLease node = startRemote();
                RawClient client = RawClient.connect(node.address())) {
            client.join(RawClient.hello());
            assertThat(read(client, 0, 0, 1)).isEmpty();
        }
    }

    @Test
    void filesOfThisMachineAreNoOrigin() throws IOException {
        try (NodeLease node = feed.start();
                RawClient client = RawClient.connect(node.address())) {
            client.join(RawClient.hello());
            client.send(STATS);
            read(client, 0, 0, 1);
            FeedStatus.Server server =
                    node.status().groups().get(0).ranks().get(0).server();
            assertThat(server.origin()).isZero();
            assertThat(server.build()).isPositive();
            assertThat(server.write()).isPositive();
        }
    }

    @Test
    void positionsRanksAndWaitsAreShownAndOutliveTheTrainers() throws IOException {
        try (NodeLease node = feed.start()) {
            assertThat(node.status().groups()).isEmpty();
            try (RawClient first = RawClient.connect(node.address());
                    RawClient second = RawClient.connect(node.address())) {
                first.join(RawClient.hello(Participant.rank(0, 2), 5));
                second.join(RawClient.hello(Participant.rank(1, 2), 5));
                first.send(STATS);
                second.send(STATS);
                read(first, 0, 0, 2);
                read(second, 0, 1, 2);
                Waiting.until(() -> group(node).next() == batches());
                assertThat(group(node).ranks()).allMatch(FeedStatus.Rank::connected);
                second.send(new Subscribe(9, 1, 1, 2, 5, TailPolicy.KEEP, List.of()));
                second.send(new Grant(9, 1));
                second.send(TestFeed.ack(second.expectIntact()));
                Waiting.until(() -> group(node).epoch() == 1);
                assertThat(group(node).next()).isEqualTo(2);
            }
            Waiting.until(() -> node.metrics().sessions() == 0);
            FeedStatus.Group group = group(node);
            assertThat(List.of(group.stream(), group.name(), group.run(), group.worldSize(), group.batches()))
                    .containsExactly("train", "default", 5L, 2, batches());
            assertThat(group.ranks()).extracting(FeedStatus.Rank::rank).containsExactly(0, 1);
            assertThat(group.ranks()).noneMatch(FeedStatus.Rank::connected);
            assertThat(group.ranks())
                    .allSatisfy(rank -> assertThat(rank.trainer()).contains(STATS));
            assertThat(group.ranks().stream().mapToLong(FeedStatus.Rank::rows).sum())
                    .isEqualTo(node.status().totals().rows());
        }
    }

    @Test
    void aReconnectGoesOnWhereTheSeatWasAndANewRunBeginsAnew() throws IOException {
        try (NodeLease node = feed.start()) {
            for (long epoch = 0; epoch < 2; epoch++) {
                try (RawClient client = RawClient.connect(node.address())) {
                    client.join(RawClient.hello(Participant.rank(0, 1), 5));
                    read(client, epoch, 0, 1);
                }
            }
            long rows = feed.streamOrder.size().samples();
            assertThat(group(node).ranks().get(0).rows()).isEqualTo(2 * rows);
            try (RawClient client = RawClient.connect(node.address())) {
                client.join(RawClient.hello(Participant.rank(0, 1), 6));
                read(client, 3, 0, 1);
                assertThat(group(node).run()).isEqualTo(6);
                assertThat(group(node).ranks().get(0).rows()).isEqualTo(rows);
                Waiting.until(() -> group(node).next() == batches());
                assertThat(group(node).epoch()).isEqualTo(3);
            }
            try (RawClient client = RawClient.connect(node.address())) {
                client.join(RawClient.hello(Participant.rank(1, 2), 7));
                assertThat(group(node).ranks())
                        .as("ranks of an earlier run are not reported")
                        .extracting(FeedStatus.Rank::rank)
                        .containsExactly(1);
            }
        }
    }

    @Test
    void anEpochAskedForAheadIsNoPosition() throws IOException {
        try (NodeLease node = feed.start();
                RawClient client = RawClient.connect(node.address())) {
            client.join(RawClient.hello());
            client.send(new Subscribe(1, 0, 0, 1, batches(), TailPolicy.KEEP, List.of()));
            client.send(new Grant(1, 0));
            Batch batch = client.expectIntact();
            client.send(new Subscribe(2, 1, 0, 1, batches(), TailPolicy.KEEP, List.of()));
            client.send(new Grant(2, 0));
            client.expectIntact();
            client.send(TestFeed.ack(batch));
            Waiting.until(() -> group(node).next() == 1);
            assertThat(group(node).epoch()).isZero();
        }
    }

    @Test
    void tiersSayWhatTheyHoldOfWhatTheyMay() throws IOException {
        try (NodeLease node = startRemote();
                RawClient client = RawClient.connect(node.address())) {
            client.join(RawClient.hello());
            read(client, 0, 0, 1);
            // A batch may arrive before its load is counted.
            Waiting.until(
                    () -> node.status().tiers().get(3).cache().orElseThrow().loads() == 10);
            List<FeedStatus.Tier> tiers = node.status().tiers();
            assertThat(tiers)
                    .extracting(FeedStatus.Tier::name)
                    .containsExactly("open windows", "chunks in use", "mapped chunks", "memory");
            assertThat(tiers.get(0).cache()).isEmpty();
            assertThat(tiers.get(2).used())
                    .as("of a remote store, what the memory tier keeps in files")
                    .isBetween(0L, 10L);
            FeedStatus.Tier memory = tiers.get(3);
            assertThat(memory.used()).isBetween(1L, memory.limit());
            assertThat(memory.cache().orElseThrow().misses()).isEqualTo(10);
            assertThat(memory.cache().orElseThrow().loads()).isEqualTo(10);
            assertThat(memory.cache().orElseThrow().off()).isEmpty();
        }
    }

    private static FeedStatus.Group group(NodeLease node) {
        return node.status().groups().get(0);
    }
}
