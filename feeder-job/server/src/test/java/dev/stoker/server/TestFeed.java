package dev.stoker.server;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.selection.Selections;
import dev.stoker.schemas.order.OrderOverlay;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.schemas.order.StreamOrder;
import dev.stoker.schemas.order.Window;
import dev.stoker.schemas.order.WindowSlice;
import dev.stoker.schemas.order.delivery.DeliveredBatch;
import dev.stoker.schemas.order.delivery.DeliveredPiece;
import dev.stoker.schemas.order.delivery.Delivery;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Ack;
import dev.stoker.schemas.protocol.AckEntry;
import dev.stoker.schemas.protocol.Batch;
import dev.stoker.schemas.protocol.BatchIdentity;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.EpochEnd;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.server.feed.FeedSpec;
import dev.stoker.server.feed.OnCorrupt;
import dev.stoker.server.feed.PortRange;
import dev.stoker.server.feed.ServerOptions;
import dev.stoker.server.security.ServerSecurity;
import dev.stoker.storage.LocalObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;

/** A feed of one stream, {@code train}, over a {@link TestDataset}: its specs, and the batches it has to deliver. */
public final class TestFeed {
    public final TestDataset dataset;
    public final OrderSpec order;
    public final StreamOrder streamOrder;
    final List<String> classes;
    /** Nodes are shared by feed id; tests must not share. */
    public UUID instance = UUID.randomUUID();

    OnCorrupt onCorrupt = OnCorrupt.FAIL;
    public OptionalLong epochs = OptionalLong.empty();
    String name = "test";
    public ServerSecurity access = ServerSecurity.open();

    public TestFeed(TestDataset dataset, String orderJson) throws IOException {
        this.dataset = dataset;
        this.order = OrderOverlay.fromJson(orderJson).over(OrderSpec.defaults());
        LocalObjectStore store = new LocalObjectStore(dataset.path());
        var snapshot = Dataset.open(store).snapshot(dataset.version());
        StreamChunks chunks = Selections.stream(store, snapshot, "train", order.where());
        this.streamOrder = new StreamOrder(chunks, order);
        this.classes = snapshot.classes().names("label");
    }

    /** The same feed as it is at the dataset's present version. */
    TestFeed now() throws IOException {
        TestFeed now = new TestFeed(dataset, order.toJson());
        now.instance = instance;
        now.name = name;
        return now;
    }

    /** As {@link #spec}, following the dataset. */
    FeedSpec following() {
        FeedSpec plain = spec();
        return new FeedSpec(
                plain.id(),
                plain.name(),
                List.of(plain.streams().get(0).following()),
                plain.order(),
                plain.groups(),
                plain.epochs(),
                plain.onCorrupt());
    }

    public FeedSpec spec() {
        return new FeedSpec(
                UUID.nameUUIDFromBytes((name + instance).getBytes(StandardCharsets.UTF_8)),
                name,
                List.of(dataset.stream("train")),
                order.toJson(),
                List.of(),
                epochs,
                onCorrupt);
    }

    public static ServerOptions options() {
        return ServerOptions.defaults().withPorts(PortRange.ANY).withLinger(Duration.ZERO);
    }

    public NodeLease start() throws IOException {
        return FeedNode.acquire(spec(), options().withAccess(access));
    }

    public DeliveredBatch batch(long epoch, long number, TailPolicy tail) {
        return Delivery.batch(streamOrder.epoch(epoch).numbering(), tail, number);
    }

    /** The samples of a piece. */
    List<TestDataset.Sample> samples(long epoch, DeliveredPiece piece) {
        List<TestDataset.Sample> samples = new ArrayList<>();
        var lane = streamOrder.epoch(epoch).lane(piece.lane());
        for (WindowSlice slice : lane.slices(piece.firstRow(), piece.rows())) {
            Window window = lane.window(slice.window());
            for (int i = slice.from(); i < slice.to(); i++) {
                samples.add(dataset.samples(window.chunkAt(i)).get(window.rowAt(i)));
            }
        }
        return samples;
    }

    /** Fails unless the piece is exactly what the order says, byte for byte. */
    void verify(Batch batch, TailPolicy tail) {
        BatchIdentity id = batch.header().identity();
        DeliveredBatch delivered = batch(id.epoch(), id.number(), tail);
        DeliveredPiece piece = delivered.pieces().get(id.piece());
        if (!batch.isIntact()
                || id.feedTag() != spec().tag()
                || id.pieces() != delivered.pieces().size()
                || id.lane() != piece.lane()
                || id.rows() != piece.rows()
                || id.skipped() != 0
                || id.repeated() != piece.repeated()) {
            throw new AssertionError("expected " + piece + " of " + delivered + ", got " + batch);
        }
        ByteBuffer expected = NaiveBatch.of(samples(id.epoch(), piece), classes);
        if (!expected.equals(batch.message())) {
            throw new AssertionError("the message of " + id + " does not match " + piece);
        }
    }

    /**
     * Subscribes, grants everything, and checks all pieces up to EPOCH_END; returns their names as
     * {@code number.piece}.
     */
    public List<String> readAll(RawClient client, Subscribe subscribe) throws IOException {
        client.send(subscribe);
        client.send(new Grant(subscribe.subscription(), Long.MAX_VALUE));
        List<String> names = new ArrayList<>();
        long rows = 0;
        while (true) {
            Frame frame = client.receive();
            if (frame instanceof Batch batch) {
                verify(batch, subscribe.tail());
                BatchIdentity id = batch.header().identity();
                names.add(id.number() + "." + id.piece());
                rows += id.rows();
            } else if (frame instanceof EpochEnd end) {
                if (end.rows() != rows || end.batches() != subscribe.count()) {
                    throw new AssertionError(end + " after " + rows + " rows");
                }
                return names;
            } else if (frame instanceof ErrorMessage error) {
                throw new RawClient.Ended(error);
            }
        }
    }

    public static Ack ack(Batch batch) {
        BatchIdentity id = batch.header().identity();
        return new Ack(batch.header().subscription(), id.epoch(), List.of(AckEntry.of(batch.header())));
    }
}
