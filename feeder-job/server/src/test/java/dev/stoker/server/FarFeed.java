package dev.stoker.server;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.schemas.order.OrderOverlay;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Batch;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Frame.Nack;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.server.chunks.ChunkSources;
import dev.stoker.server.feed.FeedSpec;
import dev.stoker.server.feed.FeedStatus;
import dev.stoker.server.feed.ServerOptions;
import dev.stoker.server.tiers.TierOptions;
import dev.stoker.server.window.ServedStream;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** A feed with chunks in a store that cannot be mapped and fails as the test requests. */
final class FarFeed {
    static final int CHUNKS = 40;

    final TestDataset dataset;
    final TestFeed feed;
    final InMemoryObjectStore remote = new InMemoryObjectStore();
    final FaultyObjectStore store;
    final long bytes;
    /** Epochs of the feed, beyond which nothing is brought ahead. */
    OptionalLong epochs = OptionalLong.empty();

    FarFeed(Path directory) throws IOException {
        this(directory, null);
    }

    /** @param shared the store of a feed that was made alike, or null */
    FarFeed(Path directory, FaultyObjectStore shared) throws IOException {
        this(directory, shared, rows(CHUNKS), "{\"batch_size\":6,\"lanes\":3,\"shuffle_window\":24000,\"seed\":5}");
    }

    /**
     * @param rows of each chunk
     * @param order of the feed, as JSON
     */
    FarFeed(Path directory, FaultyObjectStore shared, int[] rows, String order) throws IOException {
        store = shared == null ? new FaultyObjectStore(remote) : shared;
        dataset = TestDataset.create(directory, 7, 300, rows);
        feed = new TestFeed(dataset, order);
        long sum = 0;
        for (int chunk = 0; chunk < rows.length; chunk++) {
            byte[] content = Files.readAllBytes(dataset.file(chunk));
            remote.createIfAbsent(name(chunk), content);
            sum += content.length;
        }
        bytes = sum;
    }

    /** Returns the rows of this many chunks of different sizes. */
    static int[] rows(int chunks) {
        int[] rows = new int[chunks];
        for (int i = 0; i < chunks; i++) {
            rows[i] = 5 + i * 7 % 11;
        }
        return rows;
    }

    String name(int chunk) {
        return dataset.path().relativize(dataset.file(chunk)).toString();
    }

    NodeLease start(TierOptions tiers) throws IOException {
        return start(tiers, 1 << 20);
    }

    NodeLease start(TierOptions tiers, long workingBytes) throws IOException {
        return start(
                TestFeed.options().withLimits(10, workingBytes, 100, 1 << 16).withTiers(tiers));
    }

    NodeLease start(ServerOptions options) throws IOException {
        FeedSpec plain = feed.spec();
        FeedSpec spec = new FeedSpec(
                plain.id(), plain.name(), plain.streams(), plain.order(), plain.groups(), epochs, plain.onCorrupt());
        return FeedNode.acquire(spec, options, sources -> open(sources, store));
    }

    List<ServedStream> open(ChunkSources sources, ObjectStore from) throws IOException {
        Snapshot snapshot = Dataset.open(sources.counted(new LocalObjectStore(dataset.path())))
                .snapshot(dataset.version());
        return List.of(new ServedStream(
                "train",
                dataset.id(),
                "data",
                1,
                "train",
                snapshot.stream("train"),
                TestDataset.FIELDS,
                snapshot.classes(),
                sources.of(sources.counted(from))));
    }

    /** Reads an epoch and compares every byte; damaged pieces are asked for again. Returns how many came damaged. */
    int read(NodeLease node, long epoch, String group) throws IOException {
        try (RawClient client = join(node, group)) {
            return read(client, epoch);
        }
    }

    /** Connects as the only trainer of a group. */
    static RawClient join(NodeLease node, String group) throws IOException {
        RawClient client = RawClient.connect(node.address());
        client.join(new Hello(
                        Optional.empty(),
                        "test/1",
                        new Hello.PassRequest(Optional.empty(), Optional.empty(), group, OrderOverlay.fromJson("{}")),
                        Participant.rank(0, 1),
                        0,
                        0)
                .by(RawClient.process(1)));
        return client;
    }

    int read(RawClient client, long epoch) throws IOException {
        long batches = feed.streamOrder.size().batches();
        client.send(new Subscribe(epoch + 1, epoch, 0, 1, batches, TailPolicy.KEEP, List.of()));
        int damaged = 0;
        for (long m = 0; m < batches; m++) {
            client.send(new Grant(epoch + 1, m));
            for (int left = feed.batch(epoch, m, TailPolicy.KEEP).pieces().size(); left > 0; ) {
                Batch batch = client.expect(Batch.class);
                if (batch.isIntact()) {
                    feed.verify(batch, TailPolicy.KEEP);
                    left--;
                } else {
                    damaged++;
                    client.send(new Nack(
                            epoch + 1, epoch, m, batch.header().identity().piece(), 0));
                }
            }
        }
        return damaged;
    }

    /** How the memory tier, or the first tier of such a name, stands. */
    static FeedStatus.Tier tier(NodeLease node, String name) {
        return node.status().tiers().stream()
                .filter(tier -> tier.name().startsWith(name))
                .findFirst()
                .orElseThrow();
    }
}
