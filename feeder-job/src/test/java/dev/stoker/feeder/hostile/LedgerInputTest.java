package dev.stoker.feeder.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.feeder.ledger.LedgerEncoder;
import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.order.delivery.DeliveredBatch;
import dev.stoker.schemas.order.delivery.DeliveredPiece;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Ack;
import dev.stoker.schemas.protocol.AckEntry;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.Durable;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Frame.Ping;
import dev.stoker.schemas.protocol.Frame.Pong;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.codec.Frames;
import dev.stoker.schemas.testing.Rounds;
import dev.stoker.server.FeedNode;
import dev.stoker.server.NodeLease;
import dev.stoker.server.RawClient;
import dev.stoker.server.TestDataset;
import dev.stoker.server.TestFeed;
import dev.stoker.server.feed.FeedSpec;
import dev.stoker.server.feed.OnCorrupt;
import dev.stoker.server.feed.ServerOptions;
import dev.stoker.server.feed.StreamSpec;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** What a trainer says for the ledger ends its own session if it is wrong, and whatever gets through can be written. */
class LedgerInputTest {
    /** 90 samples in batches of 8 over two lanes: batch 11 is short, and some batches have two pieces. */
    private static final long BATCHES = 12;

    @TempDir
    Path directory;

    private TestFeed feed;
    private NodeLease node;
    private LedgerEncoder encoder;
    private int written;

    @BeforeEach
    void start() throws IOException {
        feed = new TestFeed(
                TestDataset.create(directory.resolve("data"), 1, 50, 45, 45), "{\"batch_size\":8,\"lanes\":2}");
        node = feed.start();
        FeedSpec spec = feed.spec();
        StreamSpec stream = spec.streams().get(0);
        encoder = new LedgerEncoder(new FeedPlan(
                spec.name(),
                spec.id(),
                List.of(new FeedPlan.Stream(
                        stream.name(), stream.path(), stream.dataset(), stream.version(), stream.split(), 2, false)),
                spec.order(),
                List.of(),
                0,
                OnCorrupt.FAIL,
                directory.toString(),
                0,
                null,
                "off",
                new FeedPlan.Work(1000, 0)));
    }

    @AfterEach
    void everythingThatGotThroughCanBeWritten() {
        assertThat(feed.streamOrder.size().batches()).isEqualTo(BATCHES);
        write();
        node.close();
    }

    private void write() {
        node.drainAcks(item -> encoder.encode(item).length > 0, Integer.MAX_VALUE);
    }

    private RawClient join(Hello hello) throws IOException {
        RawClient client = RawClient.connect(node.address());
        client.join(hello);
        return client;
    }

    private RawClient subscribed(TailPolicy tail, long count) throws IOException {
        RawClient client = join(RawClient.hello());
        client.send(new Subscribe(1, 0, 0, 1, count, tail, List.of()));
        return client;
    }

    private List<AckEntry> entries(long epoch, long number, TailPolicy tail) {
        DeliveredBatch batch = feed.batch(epoch, number, tail);
        List<AckEntry> entries = new ArrayList<>();
        for (int i = 0; i < batch.pieces().size(); i++) {
            DeliveredPiece piece = batch.pieces().get(i);
            entries.add(new AckEntry(number, i, piece.repeated(), 1, piece.rows(), 0, piece.rows(), 0));
        }
        return entries;
    }

    private static void refuses(RawClient client, String why) {
        assertThatThrownBy(() -> client.expect(Durable.class))
                .hasMessageStartingWith("bad_frame")
                .hasMessageContaining(why);
    }

    @Test
    void anAcknowledgementBeforeASubscriptionIsRefused() throws IOException {
        try (RawClient client = join(RawClient.hello())) {
            client.send(new Ack(0, 0, entries(0, 3, TailPolicy.PAD)));
            refuses(client, "before SUBSCRIBE");
        }
    }

    @Test
    void aReceiptThatTheOrderDoesNotAllowIsRefused() throws IOException {
        record Wrong(AckEntry entry, String why) {}
        List<Wrong> wrongs = List.of(
                new Wrong(new AckEntry(0, 0, false, 1, 1L << 31, 0, 1L << 31, 0), "2,147,483,648 rows"),
                new Wrong(new AckEntry(0, 0, false, 1, 0, (1L << 32) - 1, 0, 0), "4,294,967,295 skipped"),
                new Wrong(new AckEntry(0, 0, false, 1, 7, 0, 7, 0), "the order says 8"),
                new Wrong(new AckEntry(0, 0, false, 1, 7, 2, 7, 0), "the order says 8"),
                new Wrong(new AckEntry(0, 0, true, 1, 8, 0, 8, 0), "repeated"),
                new Wrong(new AckEntry(0, 1, false, 1, 8, 0, 8, 0), "piece 1"),
                new Wrong(new AckEntry(0, 65535, false, 1, 8, 0, 8, 0), "piece 65535"),
                new Wrong(new AckEntry(BATCHES, 0, false, 1, 8, 0, 8, 0), "number 12"),
                new Wrong(new AckEntry(Long.MAX_VALUE, 0, false, 1, 8, 0, 8, 0), "past the end"));
        for (TailPolicy tail : List.of(TailPolicy.KEEP, TailPolicy.DROP)) {
            for (Wrong wrong : wrongs) {
                try (RawClient client = subscribed(tail, BATCHES - 1)) {
                    client.send(new Ack(1, 0, List.of(wrong.entry())));
                    refuses(client, wrong.why());
                }
            }
        }
        try (RawClient client = subscribed(TailPolicy.DROP, BATCHES - 1)) {
            client.send(new Ack(1, 0, entries(0, BATCHES - 1, TailPolicy.KEEP)));
            refuses(client, "past the end");
        }
        try (RawClient client = subscribed(TailPolicy.PAD, BATCHES)) {
            client.send(new Ack(1, 0, List.of(new AckEntry(BATCHES + 1, 0, true, 1, 8, 0, 8, 0))));
            refuses(client, "past the end");
        }
    }

    @Test
    void receiptsThatTheOrderAllowsAreTakenUnderEveryTail() throws IOException {
        for (TailPolicy tail : TailPolicy.values()) {
            long end = tail == TailPolicy.DROP ? BATCHES - 1 : BATCHES;
            try (RawClient client = subscribed(tail, end)) {
                for (long number = 0; number < end; number++) {
                    // Of another epoch as well: receipts of an earlier connection may come late.
                    client.send(new Ack(1, 0, entries(0, number, tail)));
                    client.send(new Ack(1, 7, entries(7, number, tail)));
                }
                if (tail == TailPolicy.PAD) {
                    client.send(new Ack(1, 0, entries(0, end, tail)));
                }
                client.send(new Ping(1));
                assertThat(client.receive()).isEqualTo(new Pong(1));
            }
        }
        try (RawClient client = subscribed(TailPolicy.KEEP, BATCHES)) {
            client.send(new Ack(1, 0, List.of(new AckEntry(0, 0, false, 1, 5, 3, 5, 0))));
            client.send(new Ping(1));
            assertThat(client.receive()).as("skipped rows").isEqualTo(new Pong(1));
        }
    }

    @Test
    void aGroupWhoseNameIsNoTextIsRefused() throws IOException {
        for (String name : List.of("half \ud800", "\udc00", "\udc00\ud800")) {
            Hello hello = RawClient.hello();
            byte[] json = ("{\"group\":\"" + escaped(name) + "\"}").getBytes(StandardCharsets.US_ASCII);
            byte[] frame = Frames.encode(hello).array();
            ByteBuffer out = ByteBuffer.allocate(20 + json.length)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .put(frame, 0, 16)
                    .put(json)
                    .putInt(0, 16 + json.length);
            out.putInt(Crc32cs.of(out.slice(4, 12 + json.length)));
            try (RawClient client = RawClient.connect(node.address())) {
                client.sendRaw(out.array(), 0, out.capacity());
                refuses(client, "group");
            }
        }
    }

    private static String escaped(String text) {
        StringBuilder out = new StringBuilder();
        text.chars().forEach(c -> out.append(String.format("\\u%04x", c)));
        return out.toString();
    }

    @Test
    void randomValidSessionsWithRandomFieldsNeverReachTheLedgerUnwritable(TestInfo test) {
        Rounds.of(test).seconds(2).atLeast(100).run((random, round) -> {
            int world = 1 + random.nextInt(3);
            Participant rank = new Participant(random.nextInt(world), world, 0, 1 + random.nextInt(2));
            try (RawClient client = join(grouped(rank, "g" + random.nextInt(40)))) {
                for (int frames = random.nextInt(6); frames > 0; frames--) {
                    client.send(randomFrame(random, rank));
                }
                client.socket().shutdownOutput();
                while (!(client.receive() instanceof ErrorMessage)) {
                    // Another answer than an error.
                }
            } catch (EOFException | SocketException e) {
                written++;
            } catch (RawClient.Ended e) {
                // The session before may still be closing.
                assertThat(e.code()).isIn("bad_frame", "place_taken");
            }
            write();
        });
        if (!Rounds.isReplay()) {
            assertThat(written).as("sessions that were not refused").isPositive();
        }
    }

    private Frame randomFrame(Random random, Participant rank) {
        long epoch = random.nextInt(4) == 0 ? random.nextLong(1L << 32) : random.nextInt(2);
        TailPolicy tail = TailPolicy.values()[random.nextInt(3)];
        if (random.nextInt(3) > 0) {
            long first = random.nextInt(5) == 0
                    ? random.nextLong(Long.MAX_VALUE)
                    : rank.rank() + rank.worldSize() * random.nextInt(3);
            long count = random.nextInt(5) == 0 ? random.nextLong(1L << 20) : random.nextInt(3);
            return new Subscribe(random.nextInt(9), epoch, first, rank.stride(), count, tail, List.of());
        }
        List<AckEntry> entries = new ArrayList<>();
        for (int i = random.nextInt(3); i >= 0; i--) {
            long number = rank.rank() + (long) rank.worldSize() * random.nextInt(4);
            AckEntry entry = number < BATCHES - 1
                    ? entries(epoch, number, tail).get(0)
                    : new AckEntry(number, 0, random.nextBoolean(), 0, 8, 0, 8, 0);
            boolean spoil = random.nextInt(6) == 0;
            entries.add(
                    spoil
                            ? new AckEntry(
                                    random.nextLong(Long.MAX_VALUE),
                                    random.nextInt(1 << 16),
                                    random.nextBoolean(),
                                    random.nextInt(),
                                    random.nextLong(1L << 32),
                                    random.nextLong(1L << 32),
                                    random.nextLong(1L << 32),
                                    0)
                            : entry);
        }
        return new Ack(random.nextInt(9), epoch, entries);
    }

    static Hello grouped(String group) {
        return grouped(Participant.rank(0, 1), group);
    }

    private static Hello grouped(Participant rank, String group) {
        Hello hello = RawClient.hello(rank, 0);
        return new Hello(
                hello.token(),
                hello.client(),
                new Hello.PassRequest(
                        hello.pass().feed(),
                        hello.pass().stream(),
                        group,
                        hello.pass().order()),
                rank,
                0,
                0);
    }

    @Test
    void aTrainerThatFloodsTheLedgerEndsOnlyItsOwnSession() throws Exception {
        node.close();
        ServerOptions few = TestFeed.options();
        node = FeedNode.acquire(
                feed.spec(), few.withLimits(few.maxSessions(), few.workingMemoryBytes(), few.maxMappings(), 2000));
        try (RawClient subscribing = join(grouped("subscribing"));
                RawClient acknowledging = join(grouped("acknowledging"));
                RawClient honest = join(grouped("honest"))) {
            // Before anything is durable: one after the other asks and acknowledges without end.
            for (int i = 1; i < 1000; i++) {
                subscribing.send(new Subscribe(i, 0, i % 5, 1, 1, TailPolicy.KEEP, List.of(0, 1)));
            }
            acknowledging.send(new Subscribe(1, 0, 0, 1, 1, TailPolicy.KEEP, List.of()));
            for (int i = 0; i < 1000; i++) {
                acknowledging.send(new Ack(1, 0, entries(0, 0, TailPolicy.KEEP)));
            }
            answers(subscribing);
            answers(acknowledging);
            honest.send(new Subscribe(1, 0, 0, 1, BATCHES, TailPolicy.KEEP, List.of()));
            honest.send(new Grant(1, BATCHES));
            List<AckEntry> all = new ArrayList<>();
            for (long number = 0; number < BATCHES; number++) {
                all.addAll(entries(0, number, TailPolicy.KEEP));
            }
            honest.send(new Ack(1, 0, all));
            answers(honest);
            assertThat(node.metrics().pendingReceipts()).isLessThan(2000);
            write();
            node.markDurable(node.drainToken());
            assertThat(durable(honest)).isEqualTo(all.size());
            assertThatThrownBy(() -> durable(subscribing)).hasMessageContaining("shutting_down");
            assertThatThrownBy(() -> {
                        while (true) {
                            durable(acknowledging);
                        }
                    })
                    .hasMessageContaining("shutting_down");
        }
    }

    /** Waits until the server has read all that the trainer has said. */
    private static void answers(RawClient client) throws IOException {
        client.send(new Ping(7));
        while (!(client.receive() instanceof Pong)) {
            // Skip the answers to earlier frames.
        }
    }

    private static long durable(RawClient client) throws IOException {
        while (true) {
            Frame frame = client.receive();
            if (frame instanceof Durable durable) {
                return durable.entries();
            }
            if (frame instanceof ErrorMessage error) {
                throw new RawClient.Ended(error);
            }
        }
    }
}
