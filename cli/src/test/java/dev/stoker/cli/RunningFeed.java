package dev.stoker.cli;

import dev.stoker.feeder.registry.FeedEntry;
import dev.stoker.feeder.registry.StokerHome;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.batch.View;
import dev.stoker.schemas.ledger.Consumer;
import dev.stoker.schemas.ledger.LedgerWriter;
import dev.stoker.schemas.ledger.Source;
import dev.stoker.schemas.ledger.Subscription;
import dev.stoker.schemas.order.Fingerprint;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.protocol.Stats;
import dev.stoker.server.FeedNode;
import dev.stoker.server.NodeLease;
import dev.stoker.server.TestDataset;
import dev.stoker.server.feed.FeedSpec;
import dev.stoker.server.feed.FeedStatus;
import dev.stoker.server.feed.OnCorrupt;
import dev.stoker.server.feed.PortRange;
import dev.stoker.server.feed.ServerOptions;
import dev.stoker.server.feed.Used;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/** A feed that runs in this process, without Flink: a feeder, its entry in the register, and a ledger. */
final class RunningFeed implements AutoCloseable {

    private final UUID feed = UUID.randomUUID();
    private final TestDataset dataset;
    private final NodeLease node;

    RunningFeed(TestDataset dataset) throws IOException {
        this.dataset = dataset;
        FeedSpec spec = new FeedSpec(
                feed,
                "photos",
                List.of(dataset.stream("train")),
                OrderSpec.defaults().toJson(),
                List.of(),
                OptionalLong.empty(),
                OnCorrupt.FAIL);
        node = FeedNode.acquire(
                spec, ServerOptions.defaults().withPorts(PortRange.ANY).withLinger(Duration.ZERO));
        FeedEntry.Trainers trainers = new FeedEntry.Trainers(
                List.of(node.address()),
                Map.of(),
                node.statusUrl().stream().toList(),
                ledger().toString(),
                Optional.empty(),
                Optional.empty());
        FeedEntry entry = new FeedEntry(
                name(),
                feed,
                OptionalLong.empty(),
                1,
                spec.streams(),
                OrderSpec.defaults().toJson(),
                trainers);
        Files.createDirectories(StokerHome.feeds());
        Files.writeString(StokerHome.feedFile(name()), entry.running().toString());
        writeLedger();
    }

    String name() {
        return "looked-at-" + feed;
    }

    NodeLease node() {
        return node;
    }

    /** Returns the status as if a trainer had reported its waits. */
    FeedStatus statusWithTrainer() {
        FeedStatus status = node.status();
        FeedStatus.Rank rank = new FeedStatus.Rank(
                0,
                0,
                1,
                0,
                true,
                "stoker-python/0.1.0",
                0,
                2,
                2,
                8,
                800,
                new Used(4, 400),
                new FeedStatus.Server(5, 0, 3, 1, 2),
                Optional.of(new Stats(10_000_000, 3_000_000, 2, 8, 800, Map.of("disk", 3_000_000L), List.of())));
        FeedStatus.Group group = new FeedStatus.Group(
                "train", "photos", 1, "train", "default", 7, 1, 0, 2, 5, 9, OptionalLong.empty(), List.of(rank));
        return new FeedStatus(
                status.name(),
                status.id(),
                status.whole(),
                status.address(),
                status.startedMs(),
                status.nowMs(),
                status.totals(),
                status.tiers(),
                List.of(group),
                status.problems());
    }

    Path ledger() {
        return dataset.path().resolve("_stoker/feeds/" + feed + "/ledger");
    }

    /** A trainer has asked for the first epoch. */
    private void writeLedger() throws IOException {
        try (ObjectStore store = new LocalObjectStore(dataset.path());
                OutputStream out =
                        Files.newOutputStream(Files.createDirectories(ledger()).resolve("part-0-0.avro"))) {
            Dataset opened = Dataset.open(store);
            Snapshot snapshot = opened.snapshot();
            OrderSpec order = OrderSpec.defaults();
            Fingerprint fingerprint =
                    Fingerprint.of(opened.info().id(), snapshot.version(), "train", snapshot.stream("train"), order);
            LedgerWriter writer = new LedgerWriter(out, new byte[16]);
            writer.write(new Subscription(
                    1000,
                    new Consumer(feed.toString(), "train", "default", fingerprint.text(), 5, 0, 1, 0, 1, 0),
                    0,
                    0,
                    1,
                    1,
                    "pad",
                    new Source(opened.info().id().toString(), snapshot.version(), "train", order.toJson()),
                    View.whole(opened.info().fields().stream().map(Field::name).toList())
                            .text()));
            writer.finish();
        }
    }

    @Override
    public void close() throws IOException {
        Files.deleteIfExists(StokerHome.feedFile(name()));
        node.close();
    }
}
