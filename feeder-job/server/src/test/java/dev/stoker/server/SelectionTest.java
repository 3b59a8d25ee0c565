package dev.stoker.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.BatchColumns;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.batch.MessageJoin;
import dev.stoker.schemas.batch.View;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.order.OrderOverlay;
import dev.stoker.schemas.order.delivery.DeliveredPiece;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Batch;
import dev.stoker.schemas.protocol.BatchHeader;
import dev.stoker.schemas.protocol.BatchIdentity;
import dev.stoker.schemas.protocol.BatchRef;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.FileAnnouncement;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.EpochEnd;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Frame.Nack;
import dev.stoker.schemas.protocol.Frame.Release;
import dev.stoker.schemas.protocol.Frame.Selected;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.Select;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.schemas.protocol.codec.Frames;
import dev.stoker.server.feed.LedgerItem;
import dev.stoker.server.feed.ReceiptsItem;
import dev.stoker.server.feed.SubscriptionItem;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Sessions that receive only some of the columns. */
@Timeout(60)
class SelectionTest {
    private static final List<String> NAMES =
            TestDataset.FIELDS.stream().map(Field::name).toList();

    @TempDir
    Path folder;

    private TestFeed feed;

    @BeforeEach
    void makeFeed() throws IOException {
        feed = new TestFeed(
                TestDataset.create(folder.resolve("data"), 7, 300, 9, 14, 3, 11, 8, 12, 1, 10),
                "{\"batch_size\":6,\"lanes\":3,\"shuffle_window\":12000,\"seed\":5}");
    }

    private static View view(String... columns) {
        return View.of(NAMES, List.of(columns));
    }

    private static Selected select(RawClient client, View view) throws IOException {
        client.send(Select.of(view));
        Selected selected = client.expect(Selected.class);
        assertThat(selected.viewTag()).isEqualTo(view.tag());
        return selected;
    }

    /** The message that a piece must have: cut out of one that was written down straight from the specification. */
    private void verify(Batch batch, View view, TailPolicy tail) throws IOException {
        BatchIdentity id = batch.header().identity();
        DeliveredPiece piece =
                feed.batch(id.epoch(), id.number(), tail).pieces().get(id.piece());
        ByteBuffer whole = NaiveBatch.of(feed.samples(id.epoch(), piece), feed.classes);
        List<ArrowColumn> all = BatchColumns.read(whole, TestDataset.FIELDS, "the whole message");
        List<ArrowColumn> selected =
                Arrays.stream(view.numbers()).mapToObj(all::get).toList();
        ByteBuffer expected = new MessageJoin(TestDataset.FIELDS, view)
                .join(List.of(new MessageJoin.Cut(selected, 0, piece.rows())), ByteBuffer::allocate);
        assertThat(batch.isIntact()).isTrue();
        assertThat(batch.message()).isEqualTo(expected.clear());
        assertThat(batch.header().source().viewTag()).isEqualTo(view.tag());
        assertThat(batch.header().source().rows()).isEqualTo(piece.rows());
        assertThat(batch.header().source().crc32c()).isEqualTo(Crc32cs.of(whole.clear()));
    }

    /** Reads and checks an epoch. Returns the number of its pieces that came by reference. */
    private int readAll(RawClient client, View view, AnnouncedFiles files) throws IOException {
        long batches = feed.streamOrder.size().batches();
        client.send(new Subscribe(1, 0, 0, 1, batches, TailPolicy.PAD, List.of()));
        client.send(new Grant(1, Long.MAX_VALUE));
        int references = 0;
        while (true) {
            Frame frame = client.receive();
            if (frame instanceof Batch batch) {
                verify(batch, view, TailPolicy.PAD);
            } else if (frame instanceof FileAnnouncement file) {
                files.learn(file);
            } else if (frame instanceof BatchRef ref) {
                verify(files.resolve(ref), view, TailPolicy.PAD);
                client.send(new Release(++references));
            } else if (frame instanceof EpochEnd) {
                return references;
            } else if (frame instanceof ErrorMessage error) {
                throw new RawClient.Ended(error);
            }
        }
    }

    @Test
    void onlyTheSelectedColumnsAreSent() throws IOException {
        try (NodeLease node = feed.start()) {
            for (View view : List.of(
                    view("label"),
                    view("key"),
                    view("score"),
                    view("image"),
                    view("key", "image"),
                    view("image", "label"),
                    view("key", "label", "score", "image"))) {
                try (RawClient client = RawClient.connect(node.address())) {
                    client.join(RawClient.hello());
                    select(client, view);
                    readAll(client, view, new AnnouncedFiles());
                }
            }
        }
    }

    @Test
    void sessionsOfOneFeederHaveTheirOwnSelections() throws IOException {
        try (NodeLease node = feed.start();
                RawClient whole = RawClient.connect(node.address());
                RawClient labels = RawClient.connect(node.address());
                RawClient images = RawClient.connect(node.address())) {
            List<RawClient> clients = List.of(whole, labels, images);
            List<View> views = List.of(View.whole(NAMES), view("label"), view("image", "score"));
            for (int i = 0; i < 3; i++) {
                clients.get(i)
                        .join(new Hello(
                                Optional.empty(),
                                "test/1",
                                new Hello.PassRequest(
                                        Optional.empty(),
                                        Optional.empty(),
                                        "group-" + i % 2,
                                        OrderOverlay.fromJson("{}")),
                                Participant.rank(0, 1),
                                i,
                                0));
                if (i > 0) {
                    select(clients.get(i), views.get(i));
                }
                clients.get(i).send(new Subscribe(1, 0, 0, 1, 10, TailPolicy.PAD, List.of()));
            }
            for (int number = 0; number < 10; number++) {
                for (int i = 0; i < 3; i++) {
                    clients.get(i).send(new Grant(1, number));
                    long pieces = feed.batch(0, number, TailPolicy.PAD).pieces().size();
                    for (int piece = 0; piece < pieces; piece++) {
                        verify(clients.get(i).expectIntact(), views.get(i), TailPolicy.PAD);
                    }
                }
            }
        }
    }

    @Test
    void localReadsReferToSelectedPayloadOnly() throws IOException {
        try (NodeLease node = feed.start()) {
            for (View view : List.of(view("image"), view("key", "label"), view("label", "image"))) {
                try (RawClient client = RawClient.connect(node.unix().orElseThrow())) {
                    Welcome welcome = client.join(RawClient.hello().withLocalReads(100, 1));
                    assertThat(welcome.session().localFiles()).isEqualTo(100);
                    select(client, view);
                    int references = readAll(client, view, new AnnouncedFiles());
                    if (view.includes(3)) {
                        assertThat(references).isPositive();
                    } else {
                        assertThat(references).isZero();
                    }
                }
            }
        }
    }

    @Test
    void aPieceThatIsAskedForAgainHasTheSameColumns() throws IOException {
        try (NodeLease node = feed.start();
                RawClient client = RawClient.connect(node.address())) {
            client.join(RawClient.hello());
            select(client, view("image"));
            client.send(new Subscribe(1, 0, 0, 1, 3, TailPolicy.PAD, List.of()));
            client.send(new Grant(1, 0));
            Batch first = client.expectIntact();
            client.send(new Nack(1, 0, 0, 0, 1));
            Batch again = client.expectIntact();
            assertThat(again).isEqualTo(first);
            verify(again, view("image"), TailPolicy.PAD);
        }
    }

    @Test
    void theLedgerRecordsTheSelection() throws IOException {
        View view = view("key", "label");
        try (NodeLease node = feed.start();
                RawClient client = RawClient.connect(node.address())) {
            client.join(RawClient.hello());
            select(client, view);
            client.send(new Subscribe(1, 0, 0, 1, 3, TailPolicy.PAD, List.of()));
            client.send(new Grant(1, 0));
            Batch batch = client.expectIntact();
            client.send(TestFeed.ack(batch));
            List<LedgerItem> items = new ArrayList<>();
            Waiting.until(() -> node.drainAcks(items::add, 100) >= 0 && items.size() == 2);
            assertThat(((SubscriptionItem) items.get(0)).view()).isEqualTo(view.text());
            ReceiptsItem receipts = (ReceiptsItem) items.get(1);
            assertThat(receipts.viewTag()).isEqualTo(view.tag());
            assertThat(receipts.sourceRows(0)).isEqualTo(6);
            assertThat(receipts.sourceCrc(0)).isEqualTo(batch.header().source().crc32c());
        }
    }

    @Test
    void selectionsOutOfTurnEndTheSession() throws IOException {
        Subscribe subscribe = new Subscribe(1, 0, 0, 1, 3, TailPolicy.PAD, List.of());
        BitSet first = new BitSet();
        first.set(0);
        Select good = Select.of(view("label"));
        try (NodeLease node = feed.start()) {
            endsWith(node, "SELECT: it comes a second time", good, good);
            endsWith(node, "SELECT: it comes after SUBSCRIBE", subscribe, good);
            endsWith(node, "SELECT: it comes after SUBSCRIBE", good, subscribe, good);
            endsWith(node, "SELECT: it is for 3 columns, the stream has 4", new Select(3, first));
            endsWith(node, "SELECT: it is for 5 columns, the stream has 4", new Select(5, first));
            try (RawClient client = RawClient.connect(node.address())) {
                client.join(RawClient.hello().by(RawClient.process(1).looking()));
                client.send(good);
                assertThatThrownBy(() -> client.expect(LaneMap.class))
                        .hasMessageContaining("SELECT: this session only observes");
            }
            try (RawClient client = RawClient.connect(node.address())) {
                client.send(good);
                assertThatThrownBy(() -> client.expect(LaneMap.class))
                        .hasMessageContaining("out of turn, before HELLO");
            }
        }
    }

    private static void endsWith(NodeLease node, String message, Frame... frames) throws IOException {
        try (RawClient client = RawClient.connect(node.address())) {
            client.join(RawClient.hello());
            for (Frame frame : frames) {
                client.send(frame);
            }
            assertThatThrownBy(() -> {
                        while (true) {
                            client.expect(Selected.class);
                        }
                    })
                    .hasMessageStartingWith("bad_frame: " + message);
        }
    }

    @Test
    void theBytesOnTheWireAreAtMostFivePercentMoreThanTheWantedOnes() throws IOException {
        int[] rows = {300, 200, 250};
        feed = new TestFeed(
                TestDataset.create(folder.resolve("large"), 3, 9_000, rows), "{\"batch_size\":64,\"lanes\":3}");
        try (NodeLease node = feed.start()) {
            assertThat(wireRatio(node, view("image"))).isBetween(1.0, 1.05);
            assertThat(wireRatio(node, view("key", "image"))).isBetween(1.0, 1.05);
            assertThat(wireRatio(node, view("key", "label", "score", "image"))).isBetween(1.0, 1.05);
        }
    }

    /** Reads full batches of at least 256 KiB. Returns the bytes of all frames of the server, per byte of values. */
    private double wireRatio(NodeLease node, View view) throws IOException {
        long full = feed.streamOrder.size().wholeBatches();
        try (RawClient client = RawClient.connect(node.address())) {
            client.join(RawClient.hello());
            Selected selected = select(client, view);
            long before = client.receivedBytes();
            client.send(new Subscribe(1, 0, 0, 1, full, TailPolicy.DROP, List.of()));
            client.send(new Grant(1, Long.MAX_VALUE));
            long wanted = 0;
            for (long number = 0; number < full; number++) {
                long ofBatch = 0;
                for (DeliveredPiece piece :
                        feed.batch(0, number, TailPolicy.DROP).pieces()) {
                    Batch batch = client.expectIntact();
                    verify(batch, view, TailPolicy.DROP);
                    assertThat((long) batch.header().messageBytes()).isLessThanOrEqualTo(selected.largestBatchBytes());
                    for (TestDataset.Sample sample : feed.samples(0, piece)) {
                        ofBatch += wantedBytes(sample, view);
                    }
                }
                assertThat(ofBatch).isGreaterThan(256 << 10);
                wanted += ofBatch;
            }
            client.expect(EpochEnd.class);
            long received = client.receivedBytes() - before;
            System.out.println(view.columns() + ": " + received + " bytes on the wire, " + wanted + " wanted, ratio "
                    + (double) received / wanted);
            return (double) received / wanted;
        }
    }

    private static long wantedBytes(TestDataset.Sample sample, View view) {
        long bytes = view.includes(0) ? sample.key().length() : 0;
        bytes += view.includes(1) ? 4 : 0;
        bytes += view.includes(2) ? 4 : 0;
        return bytes + (view.includes(3) ? sample.image().length : 0);
    }

    @Test
    void aSelectionWithoutPayloadSendsFarLess() throws IOException {
        feed = new TestFeed(TestDataset.create(folder.resolve("large"), 3, 9_000, 200), "{\"batch_size\":64}");
        try (NodeLease node = feed.start();
                RawClient client = RawClient.connect(node.address())) {
            Welcome welcome = client.join(RawClient.hello());
            Selected selected = select(client, view("label"));
            assertThat(selected.largestBatchBytes()).isBetween(256L, 1024L);
            assertThat(welcome.pass().largestBatchBytes()).isGreaterThan(500_000);
            client.send(new Subscribe(1, 0, 0, 1, 1, TailPolicy.PAD, List.of()));
            client.send(new Grant(1, 0));
            Batch batch = client.expectIntact();
            assertThat(Frames.encode(batch).remaining()).isLessThan(BatchHeader.BYTES + 600);
            verify(batch, view("label"), TailPolicy.PAD);
        }
    }
}
