package dev.stoker.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.order.OrderOverlay;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Ack;
import dev.stoker.schemas.protocol.AckEntry;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Frame.Ping;
import dev.stoker.schemas.protocol.Frame.Pong;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.Protocol;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.schemas.protocol.codec.Frames;
import dev.stoker.schemas.protocol.parts.Caller;
import dev.stoker.schemas.protocol.parts.Launch;
import dev.stoker.server.feed.ServerOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the places of a group over real connections: which trainer gets a place, which is rejected, and what a look
 * leaves behind.
 */
class PlaceTest {
    @TempDir
    Path directory;

    private TestFeed feed;
    private NodeLease node;

    @BeforeEach
    void start() throws IOException {
        feed = new TestFeed(
                TestDataset.create(directory.resolve("data"), 1, 50, 20, 20), "{\"batch_size\":4,\"lanes\":2}");
        node = feed.start();
    }

    @AfterEach
    void stop() {
        node.close();
    }

    private static Hello hello(String group, String order, int rank, int world, long process) {
        return new Hello(
                        Optional.empty(),
                        "test/1",
                        new Hello.PassRequest(Optional.empty(), Optional.empty(), group, OrderOverlay.fromJson(order)),
                        Participant.rank(rank, world),
                        0,
                        0)
                .by(RawClient.process(process));
    }

    private static Hello hello(long process) {
        return hello("default", "{}", 0, 1, process);
    }

    private RawClient joined(Hello hello) throws IOException {
        RawClient client = RawClient.connect(node.address());
        client.join(hello);
        return client;
    }

    /** Returns a trainer that was sent a batch, and therefore has settled in the group. */
    private RawClient reading(Hello hello) throws IOException {
        RawClient client = joined(hello);
        Participant who = hello.participant();
        client.send(new Subscribe(1, 0, who.rank(), who.worldSize(), 2, TailPolicy.PAD, List.of()));
        readsOn(client, who.rank());
        return client;
    }

    private static void readsOn(RawClient client, long through) throws IOException {
        client.send(new Grant(1, through));
        client.expectIntact();
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
    void newcomerIsToldWhoReadsAndTheReaderDoesNotNotice() throws IOException {
        try (RawClient reader = reading(hello(1))) {
            refused(hello(2), "place_taken", "process 1 on host test-host", "rank 0 of 1", "group=");
            refused(hello("default", "{}", 1, 2, 2), "place_taken", "process 1 on host test-host", "does not fit");
            refused(hello(2).by(Caller.UNKNOWN), "place_taken", "process 1");
            joined(hello("notebook", "{}", 0, 1, 2)).close();
            readsOn(reader, 1);
            assertThat(node.metrics().rejected()).isZero();
        }
        Waiting.until(() -> node.metrics().sessions() == 0);
        joined(hello(2)).close();
    }

    @Test
    void placeIsFreeAsSoonAsTheConnectionEnds() throws IOException {
        RawClient reader = reading(hello(1));
        refused(hello(2), "place_taken", "process 1");
        reader.socket().setSoLinger(true, 0); // as the kernel does for a process that is killed
        reader.close();
        // Not until the place is given: a session that says nothing loses its place after a while.
        Waiting.until(() -> node.metrics().sessions() == 0);
        joined(hello(2)).close();
    }

    @Test
    void otherRanksOfAJobJoinItsRun() throws IOException {
        try (RawClient zero = reading(hello("default", "{}", 0, 2, 1));
                RawClient one = RawClient.connect(node.address())) {
            Welcome welcome = one.join(hello("default", "{}", 1, 2, 2));
            assertThat(node.groupFacts())
                    .singleElement()
                    .satisfies(facts ->
                            assertThat(facts.run()).isEqualTo(welcome.session().run()));
            refused(hello("default", "{}", 1, 2, 3), "place_taken", "process 2");
            readsOn(zero, 2);
        }
    }

    @Test
    void laterStartOfOneLaunchTakesThePlaceAtOnce() throws IOException {
        Launch first = new Launch("torchelastic", "job", 0);
        Hello old = hello(1).by(launched(1, first));
        try (RawClient reader = reading(old)) {
            refused(hello(2).by(launched(2, first)), "place_taken", "process 1");
            refused(hello(2).by(launched(2, new Launch("torchelastic", "other", 1))), "place_taken", "process 1");
            try (RawClient again = reading(hello(2).by(launched(2, new Launch("torchelastic", "job", 1))))) {
                assertThatThrownBy(() -> {
                            while (true) {
                                reader.receive();
                            }
                        })
                        .isInstanceOf(IOException.class);
                long before = node.groupFacts().get(0).run();
                refused(old.by(launched(1, first).in(1)), "fenced", "run " + before);
                readsOn(again, 1);
            }
        }
    }

    private static Caller launched(long process, Launch launch) {
        return new Caller(0, 0, false, RawClient.process(process).instance(), Optional.of(launch));
    }

    @Test
    void ownProcessReplacesItselfAlsoWithAnotherWorldSize() throws IOException {
        try (RawClient cell = reading(hello(1));
                RawClient again = reading(hello(1));
                RawClient two = reading(hello("default", "{}", 1, 2, 1))) {
            readsOn(two, 3);
            assertThatThrownBy(() -> cell.expect(Pong.class)).hasMessageContaining("fenced");
            assertThatThrownBy(() -> again.expect(Pong.class)).hasMessageContaining("fenced");
        }
    }

    @Test
    void refusedNewcomerLeavesNothingBehind() throws IOException {
        // Another feeder rejects the trainer. It was welcomed here, and leaves without having subscribed.
        RawClient newcomer = RawClient.connect(node.address());
        long drawn = newcomer.join(hello("default", "{\"seed\":3}", 0, 2, 2))
                .session()
                .run();
        newcomer.close();
        Waiting.until(() -> node.metrics().sessions() == 0);
        assertThat(node.groupFacts()).isEmpty();
        try (RawClient reader = RawClient.connect(node.address())) {
            Hello back = hello("default", "{\"seed\":4}", 0, 1, 1)
                    .by(RawClient.process(1).in(drawn - 10));
            assertThat(reader.join(back).session().run())
                    .as("a reader of an older run continues")
                    .isEqualTo(drawn - 10);
        }
    }

    @Test
    void lookingTakesNoPlaceAndLeavesNothingBehind() throws IOException {
        try (RawClient reader = reading(hello(1));
                RawClient looker = RawClient.connect(node.address())) {
            Welcome seen = looker.join(hello(2).by(RawClient.process(2).looking()));
            assertThat(seen.pass().samples()).isPositive();
            assertThat(seen.session().run()).as("no run was joined or begun").isZero();
            readsOn(reader, 1);
            looker.send(new Ping(7));
            assertThat(looker.expect(Pong.class).opaque()).isEqualTo(7);
            looker.send(new Subscribe(1, 0, 0, 1, 1, TailPolicy.PAD, List.of()));
            assertThatThrownBy(() -> looker.expect(Pong.class)).hasMessageContainingAll("bad_frame", "only observes");
        }
        try (RawClient looker = RawClient.connect(node.address())) {
            looker.join(hello("made-up", "{\"seed\":9}", 0, 5, 2)
                    .by(RawClient.process(2).looking()));
            looker.send(new Ack(1, 0, List.of(new AckEntry(0, 0, false, 0, 4, 0, 4, 0))));
            assertThatThrownBy(() -> looker.expect(Pong.class)).hasMessageContaining("bad_frame");
        }
        assertThat(node.groupFacts()).hasSize(1);
        assertThat(node.status().groups()).hasSize(1);
        assertThat(node.metrics().rejected()).isZero();
        try (RawClient looker = RawClient.connect(node.address())) {
            assertThatThrownBy(() -> looker.join(hello("default", "{\"seed\":9}", 0, 1, 2)
                            .by(RawClient.process(2).looking())))
                    .hasMessageContaining("order_mismatch");
        }
    }

    @Test
    void lookingDoesNotKeepAFeedBusy() throws IOException {
        assertThat(node.idleSince()).isPresent();
        var since = node.idleSince();
        try (RawClient looker = joined(hello(2).by(RawClient.process(2).looking()))) {
            assertThat(node.idleSince()).isEqualTo(since);
            looker.socket();
        }
        Waiting.until(() -> node.metrics().sessions() == 0);
        assertThat(node.idleSince()).isEqualTo(since);
    }

    @Test
    void evaluationsInSequenceAreNeverRefused() throws IOException {
        for (int i = 0; i < 600; i++) {
            reading(hello("evaluation-" + i, "{}", 0, 1, 100 + i)).close();
            joined(hello("looked-at-" + i, "{\"seed\":1}", 0, 1, 100 + i)).close();
        }
        Waiting.until(() -> node.metrics().sessions() == 0);
        assertThat(node.status().groups()).hasSizeLessThanOrEqualTo(256);
        // The order that the first trainer fixed is still valid, although the group is not shown any more.
        refused(hello("evaluation-0", "{\"seed\":5}", 0, 1, 2), "order_mismatch", "seed is 0 here, asked for 5");
        assertThat(node.groupFacts("train", "evaluation-1")).isPresent();
        assertThat(node.groupFacts("train", "looked-at-1")).isEmpty();
    }

    @Test
    void groupsThatLeftTakeNoWorkingMemory() throws IOException {
        node.close();
        long one = smallestWorkingMemory();
        node = FeedNode.acquire(feed.spec(), limited(one));
        reading(hello("first", "{\"seed\":1}", 0, 1, 1)).close();
        Waiting.until(() -> node.metrics().sessions() == 0);
        reading(hello("second", "{\"seed\":2}", 0, 1, 2)).close();
    }

    private static ServerOptions limited(long windowBytes) {
        return TestFeed.options().withLimits(64, windowBytes, 4096, 1 << 16);
    }

    private long smallestWorkingMemory() {
        long least = 1;
        long most = 1L << 40;
        while (least < most) {
            long middle = (least + most) / 2;
            if (fits(middle)) {
                most = middle;
            } else {
                least = middle + 1;
            }
        }
        return least;
    }

    private boolean fits(long windowBytes) {
        try (NodeLease tried = FeedNode.acquire(feed.spec(), limited(windowBytes))) {
            return !tried.address().isEmpty();
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void probesAndConnectionsThatSayNothingAreNotCountedAsRefused() throws IOException {
        for (int i = 0; i < 20; i++) {
            RawClient.connect(node.address()).close();
            RawClient reset = RawClient.connect(node.address());
            reset.socket().setSoLinger(true, 0);
            reset.close();
            try (RawClient probe = RawClient.connect(node.address())) {
                byte[] frame = probe();
                probe.sendRaw(frame, 0, frame.length);
                assertThatThrownBy(() -> probe.expect(Welcome.class)).hasMessageContaining("unsupported_protocol");
            }
        }
        try (RawClient wrong = RawClient.connect(node.address())) {
            byte[] frame = probe();
            frame[12] = 2; // a client of another version is refused, and counted
            wrong.sendRaw(frame, 0, frame.length);
            assertThatThrownBy(() -> wrong.expect(Welcome.class)).hasMessageContaining("unsupported_protocol");
        }
        Waiting.until(() -> node.metrics().rejected() > 0);
        assertThat(node.metrics().rejected()).isEqualTo(1);
    }

    private static byte[] probe() {
        ByteBuffer hello = Frames.encode(hello(1));
        byte[] frame = new byte[hello.remaining()];
        hello.get(frame);
        frame[12] = (byte) Protocol.NO_VERSION;
        frame[13] = (byte) (Protocol.NO_VERSION >> 8);
        return frame;
    }
}
