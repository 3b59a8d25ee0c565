package dev.stoker.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.order.OrderOverlay;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.server.feed.GroupFacts;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AdmissionTest {
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

    private static Hello named(String feedName, String stream, String group, String order, long run) {
        return new Hello(
                        Optional.empty(),
                        "test/1",
                        new Hello.PassRequest(
                                Optional.ofNullable(feedName),
                                Optional.ofNullable(stream),
                                group,
                                OrderOverlay.fromJson(order)),
                        Participant.rank(0, 1),
                        0,
                        run)
                .by(RawClient.process(1));
    }

    private void refused(Hello hello, String code, String... text) throws IOException {
        try (RawClient client = RawClient.connect(node.address())) {
            assertThatThrownBy(() -> client.join(hello))
                    .isInstanceOfSatisfying(
                            RawClient.Ended.class, e -> assertThat(e.code()).isEqualTo(code))
                    .hasMessageContainingAll(text);
            assertThatThrownBy(client::receive).isInstanceOf(EOFException.class);
        }
    }

    private RawClient joined(Hello hello) throws IOException {
        RawClient client = RawClient.connect(node.address());
        client.join(hello);
        return client;
    }

    @Test
    void refusesATrainerOfAnotherFeed() throws IOException {
        refused(named("other", null, "default", "{}", 0), "wrong_feed", "test", "other", "STOKER_FEED");
        joined(named("test", null, "default", "{}", 0)).close();
        joined(named(feed.spec().id().toString(), null, "default", "{}", 0)).close();
    }

    @Test
    void refusesAnUnknownStreamAndNamesThoseThereAre() throws IOException {
        refused(named(null, "val", "default", "{}", 0), "unknown_stream", "stream val", "its streams are train");
        assertThat(node.metrics().rejected())
                .as("refused before it was a session")
                .isEqualTo(1);
    }

    @Test
    void groupKeepsTheOrderOfItsFirstSubscriber() throws IOException {
        try (RawClient first = joined(named(null, null, "g", "{\"seed\":9}", 0))) {
            first.send(new Subscribe(1, 0, 0, 1, 1, TailPolicy.PAD, List.of()));
            first.send(new Grant(1, 0));
            first.expectIntact();
            refused(named(null, null, "g", "{\"seed\":8}", 0), "order_mismatch", "seed is 9 here, asked for 8");
            joined(named(null, null, "g", "{\"batch_size\":4}", 0)).close();
            joined(named(null, null, "other", "{\"seed\":8}", 0)).close();
        }
        refused(named(null, null, "g", "{\"seed\":8}", 0), "order_mismatch", "seed");
    }

    @Test
    void orderOfATrainerThatNeverSubscribedDoesNotBindTheGroup() throws IOException {
        joined(named(null, null, "g", "{\"seed\":9}", 0)).close();
        Waiting.until(() -> node.metrics().sessions() == 0);
        try (RawClient client = RawClient.connect(node.address())) {
            assertThat(client.join(named(null, null, "g", "{\"seed\":8}", 0))
                            .pass()
                            .order()
                            .seed())
                    .isEqualTo(8);
        }
    }

    @Test
    void greaterRunFencesTheSmallerForGood() throws IOException {
        try (RawClient old = joined(RawClient.hello(Participant.rank(0, 2), 10));
                RawClient otherRank = joined(RawClient.hello(Participant.rank(1, 2), 10));
                RawClient newer =
                        joined(RawClient.hello(Participant.rank(0, 2), 11).by(RawClient.process(2)))) {
            assertThatThrownBy(() -> old.expect(LaneMap.class))
                    .hasMessageContainingAll("fenced", "process 2", "group=");
            assertThatThrownBy(() -> otherRank.expect(LaneMap.class))
                    .as("all that is of a smaller run is over")
                    .hasMessageContaining("fenced");
            refused(RawClient.hello(Participant.rank(0, 2), 10), "fenced", "run 11", "run 10");
            refused(RawClient.hello(Participant.rank(1, 2), 10), "fenced", "run 11", "run 10");
            newer.send(new Subscribe(1, 0, 0, 2, 1, TailPolicy.PAD, List.of()));
            newer.send(new Grant(1, 0));
            newer.expectIntact();
        }
    }

    @Test
    void greatestRunDoesNotShutThePlaceForGood() throws IOException {
        joined(RawClient.hello(Participant.rank(0, 1), Hello.MAX_RUN)).close();
        try (RawClient settled = joined(RawClient.hello(Participant.rank(0, 1), Hello.MAX_RUN))) {
            settled.send(new Subscribe(1, 0, 0, 1, 1, TailPolicy.PAD, List.of()));
            settled.send(new Grant(1, 0));
            settled.expectIntact();
        }
        Waiting.until(() -> node.metrics().sessions() == 0);
        try (RawClient next = RawClient.connect(node.address())) {
            assertThat(next.join(RawClient.hello().by(RawClient.process(2)))
                            .session()
                            .run())
                    .isEqualTo(Hello.MAX_RUN + 1);
        }
    }

    @Test
    void newestConnectionOfOneProcessReplacesTheOthers() throws IOException {
        try (RawClient old = joined(RawClient.hello(Participant.rank(0, 1), 10));
                RawClient newer = joined(RawClient.hello(Participant.rank(0, 1), 10))) {
            assertThatThrownBy(() -> old.expect(LaneMap.class)).hasMessageContaining("fenced");
            newer.send(new Subscribe(1, 0, 0, 1, 1, TailPolicy.PAD, List.of()));
            newer.send(new Grant(1, 0));
            newer.expectIntact();
        }
    }

    @Test
    void replicasDoNotFenceEachOther() throws IOException {
        Hello hello = RawClient.hello(Participant.rank(0, 1), 10);
        Hello replica = new Hello(
                        hello.token(),
                        hello.client(),
                        new Hello.PassRequest(
                                hello.pass().feed(),
                                hello.pass().stream(),
                                hello.pass().group(),
                                hello.pass().order()),
                        hello.participant(),
                        1,
                        10)
                .by(RawClient.process(2));
        try (RawClient one = joined(hello);
                RawClient two = joined(replica)) {
            for (RawClient client : List.of(one, two)) {
                client.send(new Subscribe(1, 0, 0, 1, 1, TailPolicy.PAD, List.of()));
                client.send(new Grant(1, 0));
                client.expectIntact();
            }
        }
    }

    @Test
    void refusesAnotherWorldSizeWithinARun() throws IOException {
        try (RawClient client = joined(RawClient.hello(Participant.rank(0, 2), 10))) {
            refused(RawClient.hello(Participant.rank(1, 3), 10), "world_size_mismatch", "world size 2", "3");
            joined(RawClient.hello(Participant.rank(0, 3), 11)).close();
            client.socket();
        }
    }

    @Test
    void assignsOneRunToTheRanksOfALaunchAndANewOneToTheNext() throws IOException {
        long run;
        try (RawClient zero = RawClient.connect(node.address());
                RawClient one = RawClient.connect(node.address())) {
            run = zero.join(RawClient.hello(Participant.rank(0, 2), 0))
                    .session()
                    .run();
            assertThat(one.join(RawClient.hello(Participant.rank(1, 2), 0).by(RawClient.process(2)))
                            .session()
                            .run())
                    .isEqualTo(run);
            zero.send(new Subscribe(1, 0, 0, 2, 1, TailPolicy.PAD, List.of()));
            zero.send(new Grant(1, 0));
            zero.expectIntact();
            assertThat(run).isBetween(System.currentTimeMillis() - 60_000, System.currentTimeMillis());
        }
        Waiting.until(() -> node.metrics().sessions() == 0);
        try (RawClient again = RawClient.connect(node.address())) {
            assertThat(again.join(RawClient.hello(Participant.rank(0, 2), 0).by(RawClient.process(3)))
                            .session()
                            .run())
                    .isGreaterThan(run);
        }
    }

    @Test
    void learnsOrderAndRunOfAGroupFromAnotherNode() throws IOException {
        node.learn(new GroupFacts("train", "g", feed.order.toJson().replace("\"seed\":0", "\"seed\":4"), 50, 2));
        refused(named(null, null, "g", "{\"seed\":8}", 0), "order_mismatch", "seed is 4 here");
        assertThat(node.groupFacts()).singleElement().satisfies(facts -> {
            assertThat(facts.run()).isEqualTo(50);
            assertThat(facts.worldSize()).isEqualTo(2);
        });
        try (RawClient client = RawClient.connect(node.address())) {
            Hello hello = new Hello(
                    Optional.empty(),
                    "test/1",
                    new Hello.PassRequest(Optional.empty(), Optional.empty(), "g", OrderOverlay.fromJson("{}")),
                    Participant.rank(1, 2),
                    0,
                    0);
            Welcome welcome = client.join(hello);
            assertThat(welcome.session().run())
                    .as("joins the run of the other ranks")
                    .isEqualTo(50);
            assertThat(welcome.pass().order().seed()).isEqualTo(4);
        }
    }

    @Test
    void sessionsBeyondTheLimitAreRefused() throws IOException {
        node.close();
        node = FeedNode.acquire(feed.spec(), TestFeed.options().withLimits(2, 1 << 20, 10, 1000));
        try (RawClient one = joined(RawClient.hello(Participant.rank(0, 3), 0))) {
            try (RawClient two = joined(RawClient.hello(Participant.rank(1, 3), 0))) {
                refused(RawClient.hello(Participant.rank(2, 3), 0), "internal", "--max-sessions");
                two.socket();
            }
            Waiting.until(() -> node.metrics().sessions() == 1);
            joined(RawClient.hello(Participant.rank(2, 3), 0)).close();
            one.socket();
        }
    }

    @Test
    void tokenIsAskedForAndCompared() throws IOException {
        node.close();
        node = FeedNode.acquire(feed.spec(), TestFeed.options().withToken("secret"));
        refused(RawClient.hello(), "unauthorized", "token");
        Hello hello = RawClient.hello();
        for (String token : List.of("wrong", "", "secret ", "secre")) {
            refused(withToken(hello, token), "unauthorized", "token");
        }
        joined(withToken(hello, "secret")).close();
    }

    private static Hello withToken(Hello hello, String token) {
        return new Hello(
                Optional.of(token),
                hello.client(),
                new Hello.PassRequest(
                        hello.pass().feed(),
                        hello.pass().stream(),
                        hello.pass().group(),
                        hello.pass().order()),
                hello.participant(),
                0,
                0);
    }

    @Test
    void twoFeedsOfOneMachineNeverMix() throws IOException {
        TestDataset data = TestDataset.create(directory.resolve("other"), 2, 50, 20, 20);
        TestFeed other = new TestFeed(data, "{\"batch_size\":4,\"lanes\":2}");
        other.name = "other";
        try (NodeLease second = other.start();
                RawClient client = RawClient.connect(second.address())) {
            assertThat(second.address()).isNotEqualTo(node.address());
            assertThatThrownBy(() -> client.join(named("test", null, "default", "{}", 0)))
                    .hasMessageContaining("wrong_feed");
            try (RawClient right = RawClient.connect(second.address())) {
                right.join(named("other", null, "default", "{}", 0));
                assertThat(other.readAll(right, new Subscribe(1, 0, 0, 1, 10, TailPolicy.KEEP, List.of())))
                        .hasSize(10);
            }
        }
    }

    @Test
    void readersOfOneProcessShareTheNode() throws IOException {
        try (NodeLease second = feed.start()) {
            assertThat(second.address()).isEqualTo(node.address());
            node.close();
            joined(RawClient.hello()).close();
        }
        String address = node.address();
        assertThatThrownBy(() -> RawClient.connect(address)).isInstanceOf(IOException.class);
    }

    @Test
    void shutdownTellsTheTrainers() throws IOException {
        try (RawClient client = joined(RawClient.hello())) {
            node.close();
            assertThatThrownBy(() -> client.expect(LaneMap.class)).hasMessageContaining("shutting_down");
        }
    }

    @Test
    void laneMapsReachTheSessionsAndNeverGoBack() throws IOException {
        try (RawClient client = joined(RawClient.hello())) {
            node.updateLaneMap("train", map(7, 2));
            assertThat(((LaneMap) client.receive()).counter()).isEqualTo(2);
            node.updateLaneMap("train", map(7, 1));
            node.updateLaneMap("train", map(7, 3));
            LaneMap received = (LaneMap) client.receive();
            assertThat(received.counter()).isEqualTo(3);
            assertThat(received.lanes()).containsExactly(List.of(1, 0), List.of(0, 1));
        }
    }

    private static LaneMap map(long start, long counter) {
        return new LaneMap(start, counter, List.of("a:1", "b:2"), List.of(List.of(1, 0), List.of(0, 1)));
    }
}
