package dev.stoker.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.order.OrderOverlay;
import dev.stoker.schemas.order.Participant;
import dev.stoker.schemas.order.TailPolicy;
import dev.stoker.schemas.protocol.Grant;
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
                        Optional.ofNullable(feedName),
                        Optional.ofNullable(stream),
                        group,
                        OrderOverlay.fromJson(order),
                        Participant.rank(0, 1),
                        0,
                        run,
                        "test/1")
                .by(FeedClient.process(1));
    }

    private void refused(Hello hello, String code, String... text) throws IOException {
        try (FeedClient client = FeedClient.connect(node.address())) {
            assertThatThrownBy(() -> client.join(hello))
                    .isInstanceOfSatisfying(
                            FeedClient.Ended.class, e -> assertThat(e.code()).isEqualTo(code))
                    .hasMessageContainingAll(text);
            assertThatThrownBy(client::receive).isInstanceOf(EOFException.class);
        }
    }

    private FeedClient joined(Hello hello) throws IOException {
        FeedClient client = FeedClient.connect(node.address());
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
        refused(named(null, "val", "default", "{}", 0), "unknown_stream", "val", "[train]");
    }

    @Test
    void groupKeepsTheOrderOfItsFirstSubscriber() throws IOException {
        try (FeedClient first = joined(named(null, null, "g", "{\"seed\":9}", 0))) {
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
        try (FeedClient client = FeedClient.connect(node.address())) {
            assertThat(client.join(named(null, null, "g", "{\"seed\":8}", 0))
                            .order()
                            .seed())
                    .isEqualTo(8);
        }
    }

    @Test
    void greaterRunFencesTheSmallerForGood() throws IOException {
        try (FeedClient old = joined(FeedClient.hello(Participant.rank(0, 2), 10));
                FeedClient otherRank = joined(FeedClient.hello(Participant.rank(1, 2), 10));
                FeedClient newer =
                        joined(FeedClient.hello(Participant.rank(0, 2), 11).by(FeedClient.process(2)))) {
            assertThatThrownBy(() -> old.expect(LaneMap.class))
                    .hasMessageContainingAll("fenced", "process 2", "group=");
            assertThatThrownBy(() -> otherRank.expect(LaneMap.class))
                    .as("all that is of a smaller run is over")
                    .hasMessageContaining("fenced");
            refused(FeedClient.hello(Participant.rank(0, 2), 10), "fenced", "run 11", "run 10");
            refused(FeedClient.hello(Participant.rank(1, 2), 10), "fenced", "run 11", "run 10");
            newer.send(new Subscribe(1, 0, 0, 2, 1, TailPolicy.PAD, List.of()));
            newer.send(new Grant(1, 0));
            newer.expectIntact();
        }
    }

    @Test
    void greatestRunDoesNotShutThePlaceForGood() throws IOException {
        joined(FeedClient.hello(Participant.rank(0, 1), Hello.MAX_RUN)).close();
        try (FeedClient settled = joined(FeedClient.hello(Participant.rank(0, 1), Hello.MAX_RUN))) {
            settled.send(new Subscribe(1, 0, 0, 1, 1, TailPolicy.PAD, List.of()));
            settled.send(new Grant(1, 0));
            settled.expectIntact();
        }
        Waiting.until(() -> node.metrics().sessions() == 0);
        try (FeedClient next = FeedClient.connect(node.address())) {
            assertThat(next.join(FeedClient.hello().by(FeedClient.process(2))).run())
                    .isEqualTo(Hello.MAX_RUN + 1);
        }
    }

    @Test
    void newestConnectionOfOneProcessReplacesTheOthers() throws IOException {
        try (FeedClient old = joined(FeedClient.hello(Participant.rank(0, 1), 10));
                FeedClient newer = joined(FeedClient.hello(Participant.rank(0, 1), 10))) {
            assertThatThrownBy(() -> old.expect(LaneMap.class)).hasMessageContaining("fenced");
            newer.send(new Subscribe(1, 0, 0, 1, 1, TailPolicy.PAD, List.of()));
            newer.send(new Grant(1, 0));
            newer.expectIntact();
        }
    }

    @Test
    void replicasDoNotFenceEachOther() throws IOException {
        Hello hello = FeedClient.hello(Participant.rank(0, 1), 10);
        Hello replica = new Hello(
                        hello.token(),
                        hello.feed(),
                        hello.stream(),
                        hello.group(),
                        hello.order(),
                        hello.participant(),
                        1,
                        10,
                        hello.client())
                .by(FeedClient.process(2));
        try (FeedClient one = joined(hello);
                FeedClient two = joined(replica)) {
            for (FeedClient client : List.of(one, two)) {
                client.send(new Subscribe(1, 0, 0, 1, 1, TailPolicy.PAD, List.of()));
                client.send(new Grant(1, 0));
                client.expectIntact();
            }
        }
    }

    @Test
    void refusesAnotherWorldSizeWithinARun() throws IOException {
        try (FeedClient client = joined(FeedClient.hello(Participant.rank(0, 2), 10))) {
            refused(FeedClient.hello(Participant.rank(1, 3), 10), "world_size_mismatch", "world size 2", "3");
            joined(FeedClient.hello(Participant.rank(0, 3), 11)).close();
            client.socket();
        }
    }

    @Test
    void assignsOneRunToTheRanksOfALaunchAndANewOneToTheNext() throws IOException {
        long run;
        try (FeedClient zero = FeedClient.connect(node.address());
                FeedClient one = FeedClient.connect(node.address())) {
            run = zero.join(FeedClient.hello(Participant.rank(0, 2), 0)).run();
            assertThat(one.join(FeedClient.hello(Participant.rank(1, 2), 0).by(FeedClient.process(2)))
                            .run())
                    .isEqualTo(run);
            zero.send(new Subscribe(1, 0, 0, 2, 1, TailPolicy.PAD, List.of()));
            zero.send(new Grant(1, 0));
            zero.expectIntact();
            assertThat(run).isBetween(System.currentTimeMillis() - 60_000, System.currentTimeMillis());
        }
        Waiting.until(() -> node.metrics().sessions() == 0);
        try (FeedClient again = FeedClient.connect(node.address())) {
            assertThat(again.join(FeedClient.hello(Participant.rank(0, 2), 0).by(FeedClient.process(3)))
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
        try (FeedClient client = FeedClient.connect(node.address())) {
            Hello hello = new Hello(
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    "g",
                    OrderOverlay.fromJson("{}"),
                    Participant.rank(1, 2),
                    0,
                    0,
                    "test/1");
            Welcome welcome = client.join(hello);
            assertThat(welcome.run()).as("joins the run of the other ranks").isEqualTo(50);
            assertThat(welcome.order().seed()).isEqualTo(4);
        }
    }

    @Test
    void sessionsBeyondTheLimitAreRefused() throws IOException {
        node.close();
        node = FeedNode.acquire(feed.spec(), TestFeed.options().withLimits(2, 1 << 20, 10, 1000));
        try (FeedClient one = joined(FeedClient.hello(Participant.rank(0, 3), 0))) {
            try (FeedClient two = joined(FeedClient.hello(Participant.rank(1, 3), 0))) {
                refused(FeedClient.hello(Participant.rank(2, 3), 0), "internal", "--max-sessions");
                two.socket();
            }
            Waiting.until(() -> node.metrics().sessions() == 1);
            joined(FeedClient.hello(Participant.rank(2, 3), 0)).close();
            one.socket();
        }
    }

    @Test
    void tokenIsAskedForAndCompared() throws IOException {
        node.close();
        node = FeedNode.acquire(feed.spec(), TestFeed.options().withToken("secret"));
        refused(FeedClient.hello(), "unauthorized", "token");
        Hello hello = FeedClient.hello();
        for (String token : List.of("wrong", "", "secret ", "secre")) {
            refused(withToken(hello, token), "unauthorized", "token");
        }
        joined(withToken(hello, "secret")).close();
    }

    private static Hello withToken(Hello hello, String token) {
        return new Hello(
                Optional.of(token),
                hello.feed(),
                hello.stream(),
                hello.group(),
                hello.order(),
                hello.participant(),
                0,
                0,
                hello.client());
    }

    @Test
    void twoFeedsOfOneMachineNeverMix() throws IOException {
        TestDataset data = TestDataset.create(directory.resolve("other"), 2, 50, 20, 20);
        TestFeed other = new TestFeed(data, "{\"batch_size\":4,\"lanes\":2}");
        other.name = "other";
        try (NodeLease second = other.start();
                FeedClient client = FeedClient.connect(second.address())) {
            assertThat(second.address()).isNotEqualTo(node.address());
            assertThatThrownBy(() -> client.join(named("test", null, "default", "{}", 0)))
                    .hasMessageContaining("wrong_feed");
            try (FeedClient right = FeedClient.connect(second.address())) {
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
            joined(FeedClient.hello()).close();
        }
        String address = node.address();
        assertThatThrownBy(() -> FeedClient.connect(address)).isInstanceOf(IOException.class);
    }

    @Test
    void shutdownTellsTheTrainers() throws IOException {
        try (FeedClient client = joined(FeedClient.hello())) {
            node.close();
            assertThatThrownBy(() -> client.expect(LaneMap.class)).hasMessageContaining("shutting_down");
        }
    }

    @Test
    void laneMapsReachTheSessionsAndNeverGoBack() throws IOException {
        try (FeedClient client = joined(FeedClient.hello())) {
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
