package dev.stoker.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Batch;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Frame.Nack;
import dev.stoker.schemas.protocol.Frame.Ping;
import dev.stoker.schemas.protocol.Frame.Pong;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.server.chunks.ChunkSources;
import dev.stoker.server.tiers.TierOptions;
import dev.stoker.server.window.ServedStream;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.FaultyObjectStore.Operation;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Chunks of a store that cannot be mapped, and that fails at times. */
class OriginTest {
    @TempDir
    Path directory;

    private TestFeed feed;
    private FaultyObjectStore store;

    @BeforeEach
    void makeDataset() throws IOException {
        TestDataset dataset = TestDataset.create(directory.resolve("data"), 7, 300, 9, 14, 3, 11, 8, 12, 1, 10, 13, 7);
        feed = new TestFeed(dataset, "{\"batch_size\":6,\"lanes\":3,\"shuffle_window\":12000,\"seed\":5}");
        InMemoryObjectStore remote = new InMemoryObjectStore();
        for (int chunk = 0; chunk < 10; chunk++) {
            Path file = dataset.file(chunk);
            remote.createIfAbsent(dataset.path().relativize(file).toString(), Files.readAllBytes(file));
        }
        store = new FaultyObjectStore(remote);
    }

    private NodeLease start(long workingBytes) throws IOException {
        return FeedNode.acquire(
                feed.spec(),
                TestFeed.options().withLimits(10, workingBytes, 100, 1000).withTiers(TierOptions.of()),
                this::open);
    }

    private List<ServedStream> open(ChunkSources sources) throws IOException {
        ObjectStore plain = new LocalObjectStore(feed.dataset.path());
        Snapshot snapshot = Dataset.open(plain).snapshot(feed.dataset.version());
        return List.of(new ServedStream(
                "train",
                feed.dataset.id(),
                "data",
                1,
                "train",
                snapshot.stream("train"),
                TestDataset.FIELDS,
                snapshot.classes(),
                sources.of(store)));
    }

    private List<String> readEpoch(NodeLease node, long epoch) throws IOException {
        try (RawClient client = RawClient.connect(node.address())) {
            client.join(RawClient.hello());
            long batches = feed.streamOrder.size().batches();
            return feed.readAll(client, new Subscribe(1, epoch, 0, 1, batches, TailPolicy.KEEP, List.of()));
        }
    }

    private long readsOfWholeChunks() {
        return store.calls().stream()
                .filter(call -> call.operation() == Operation.READ)
                .count();
    }

    @Test
    void readsEachChunkOnceAnEpochAndStaysWithinItsMemory() throws IOException {
        try (NodeLease node = start(100_000)) {
            for (long epoch = 0; epoch < 4; epoch++) {
                assertThat(readEpoch(node, epoch)).isNotEmpty();
                assertThat(node.metrics().workingBytes()).isLessThanOrEqualTo(200_000);
                assertThat(node.metrics().mappings()).isZero();
            }
            // 10 chunks, head and all in one read, and the next epoch's first windows brought ahead.
            assertThat(readsOfWholeChunks()).isLessThanOrEqualTo(4 * 10 + 10);
        }
    }

    @Test
    void refusesAWorkingMemoryThatDoesNotHoldTheWindowsBytes() {
        assertThat(catchThrowable(() -> start(40_000))).hasMessageContaining("--working-memory");
    }

    @Test
    void anOriginThatFailsForAWhileIsAskedAgain() throws IOException {
        for (int i = 0; i < 6; i++) {
            int failing = 5 * i;
            store.once(call -> call.number() == failing, Fault.FAIL_BEFORE);
        }
        try (NodeLease node = start(1 << 20)) {
            assertThat(readEpoch(node, 0)).isNotEmpty();
        }
    }

    @Test
    void aFeederThatWaitsForItsOriginAnswersAtOnce() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        AtomicBoolean answered = new AtomicBoolean();
        try (NodeLease node = start(1 << 20);
                RawClient client = RawClient.connect(node.address())) {
            client.join(RawClient.hello());
            store.on(
                    call -> {
                        asked.countDown();
                        Waiting.until(answered::get);
                        return false;
                    },
                    Fault.FAIL_BEFORE);
            long batches = feed.streamOrder.size().batches();
            client.send(new Subscribe(1, 0, 0, 1, batches, TailPolicy.KEEP, List.of()));
            client.send(new Grant(1, batches));
            asked.await();
            for (long ping = 1; ping <= 3; ping++) {
                client.send(new Ping(ping));
                assertThat(client.expect(Pong.class).opaque()).isEqualTo(ping);
            }
            answered.set(true);
            assertThat(client.expect(Batch.class).isIntact()).isTrue();
        } finally {
            answered.set(true);
        }
    }

    @Test
    void anOriginThatGoesOnFailingEndsTheSessionOnly() throws IOException {
        try (NodeLease node = start(1 << 20)) {
            store.on(call -> call.operation() == Operation.READ, Fault.FAIL_BEFORE);
            assertThat(catchThrowable(() -> readEpoch(node, 0))).hasMessageContaining("origin_unavailable");
            store.reset();
            assertThat(readEpoch(node, 0)).isNotEmpty();
        }
    }

    @Test
    void namesAStoreThatIsAwayUntilItAnswersAgain() throws IOException {
        try (NodeLease node = start(1 << 20)) {
            store.on(call -> call.operation() == Operation.READ, Fault.AWAY);
            Throwable refusal = catchThrowable(() -> readEpoch(node, 0));
            assertThat(refusal).hasMessageContaining("origin_unavailable");
            assertThat(node.status().problems())
                    .singleElement()
                    .satisfies(problem -> assertThat(refusal).hasMessageContaining(problem));
            store.reset();
            assertThat(readEpoch(node, 0)).isNotEmpty();
            assertThat(node.status().problems()).isEmpty();
        }
    }

    @Test
    void aBitThatFlipsOnTheWayFromTheOriginIsHealed() throws IOException {
        for (int flipped = 0; flipped < 20; flipped++) {
            int number = flipped;
            store.reset();
            store.once(call -> call.number() == number, Fault.FLIPPED_BIT);
            try (NodeLease node = start(1 << 20);
                    RawClient client = RawClient.connect(node.address())) {
                client.join(RawClient.hello());
                long batches = feed.streamOrder.size().batches();
                client.send(new Subscribe(1, 0, 0, 1, batches, TailPolicy.KEEP, List.of()));
                for (long m = 0; m < batches; m++) {
                    client.send(new Grant(1, m));
                    for (int left = feed.batch(0, m, TailPolicy.KEEP).pieces().size(); left > 0; ) {
                        Batch batch = client.expect(Batch.class);
                        if (batch.isIntact()) {
                            feed.verify(batch, TailPolicy.KEEP);
                            left--;
                        } else {
                            client.send(
                                    new Nack(1, 0, m, batch.header().identity().piece(), 0));
                        }
                    }
                }
                assertThat(node.metrics().corrupt()).isZero();
            }
        }
    }
}
