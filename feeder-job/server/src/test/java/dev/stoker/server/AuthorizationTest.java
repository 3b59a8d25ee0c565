package dev.stoker.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.EpochEnd;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Frame.Ping;
import dev.stoker.schemas.protocol.Frame.Pong;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.schemas.protocol.codec.FrameDecoder;
import dev.stoker.schemas.protocol.parts.Caller;
import dev.stoker.schemas.protocol.parts.Instance;
import dev.stoker.schemas.protocol.parts.Launch;
import dev.stoker.server.feed.LedgerItem;
import dev.stoker.server.feed.ServerOptions;
import dev.stoker.server.security.FeedToken;
import dev.stoker.server.security.ServerSecurity;
import dev.stoker.server.session.FeedServer;
import dev.stoker.server.session.accept.PendingConnection;
import dev.stoker.server.session.accept.TcpListener;
import dev.stoker.server.session.accept.Wire;
import dev.stoker.server.session.group.Admission;
import dev.stoker.server.threads.Threads;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the holder of a limited token may do. */
class AuthorizationTest {
    @TempDir
    Path directory;

    private NodeLease node;

    @BeforeEach
    void start() throws IOException {
        TestFeed feed = new TestFeed(
                TestDataset.create(directory.resolve("data"), 1, 50, 20, 20), "{\"batch_size\":4,\"lanes\":2}");
        Path file = Files.writeString(directory.resolve("tokens"), """
                k-all
                k-trains rights=read,acknowledge
                k-reads groups=eval-* rights=read
                k-val streams=val
                """);
        feed.access = new ServerSecurity(Optional.of(FeedToken.file(file)), Optional.empty(), false);
        node = feed.start();
    }

    @AfterEach
    void stop() {
        node.close();
    }

    private static Hello hello(String token, String group, long run) {
        Hello any = RawClient.hello(Participant.rank(0, 1), run);
        return new Hello(
                Optional.of(token),
                any.client(),
                new Hello.PassRequest(
                        any.pass().feed(),
                        any.pass().stream(),
                        group,
                        any.pass().order()),
                any.participant(),
                0,
                run);
    }

    private void refused(Hello hello, String... text) throws IOException {
        try (RawClient client = RawClient.connect(node.address())) {
            assertThatThrownBy(() -> client.join(hello))
                    .hasMessageStartingWith("unauthorized")
                    .hasMessageContainingAll(text)
                    .hasMessageNotContaining(hello.token().orElseThrow());
        }
    }

    @Test
    void aTokenIsForItsStreamsAndGroupsOnly() throws IOException {
        refused(hello("k-val", "default", 0), "stream train");
        refused(hello("k-reads", "default", 0), "group default", "eval-*");
        refused(hello("k-unknown", "default", 0), "token file");
        try (RawClient client = RawClient.connect(node.address())) {
            client.join(hello("k-reads", "eval-1", 0));
        }
    }

    @Test
    void aReaderReceivesEverythingAndLeavesNothingInTheLedger() throws IOException {
        try (RawClient client = RawClient.connect(node.address())) {
            Welcome welcome = client.join(hello("k-reads", "eval-1", 0));
            assertThat(welcome.session().readOnly()).isTrue();
            client.send(new Subscribe(1, 0, 0, 1, 1, TailPolicy.PAD, List.of()));
            client.send(new Grant(1, 0));
            var batch = client.expectIntact();
            client.expect(EpochEnd.class);
            client.send(new Ping(1));
            assertThat(client.receive()).isEqualTo(new Pong(1));
            client.send(TestFeed.ack(batch));
            assertThatThrownBy(() -> client.expect(LaneMap.class))
                    .hasMessageContainingAll("unauthorized", "acknowledge", "ACK");
        }
        List<LedgerItem> items = new ArrayList<>();
        node.drainAcks(items::add, 100);
        assertThat(items).isEmpty();
        assertThat(node.groupFacts()).as("its order binds nobody").isEmpty();
    }

    @Test
    void aTrainersTokenAcknowledges() throws IOException {
        try (RawClient client = RawClient.connect(node.address())) {
            assertThat(client.join(hello("k-trains", "default", 0)).session().readOnly())
                    .isFalse();
            client.send(new Subscribe(1, 0, 0, 1, 1, TailPolicy.PAD, List.of()));
            client.send(new Grant(1, 0));
            client.send(TestFeed.ack(client.expectIntact()));
            List<LedgerItem> items = new ArrayList<>();
            Waiting.until(() -> node.drainAcks(items::add, 100) >= 0 && items.size() == 2);
        }
    }

    /** The token file may change while a connection is on its way from the door to its session. */
    @Test
    void rightsAreLookedUpOnceAndThoseOfTheSessionAreTheOnesFound() throws IOException {
        Path file = Files.writeString(directory.resolve("changing"), "k-early rights=read\nk-late\n");
        FeedToken tokens = FeedToken.file(file);
        TestFeed feed = new TestFeed(
                TestDataset.create(directory.resolve("more"), 1, 50, 20, 20), "{\"batch_size\":4,\"lanes\":2}");
        ServerOptions options =
                TestFeed.options().withAccess(new ServerSecurity(Optional.of(tokens), Optional.empty(), false));
        try (FeedServer server = new FeedServer(
                        feed.spec(),
                        options,
                        SimulatedNode.streams(feed.spec()),
                        Threads.system(),
                        (gate, rejected) -> TcpListener.open(
                                options, slow(gate, () -> forget(tokens, file, "k-early")), rejected));
                RawClient client = RawClient.connect(server.address())) {
            Welcome welcome = client.join(hello("k-early", "default", 0));
            assertThat(welcome.session().readOnly()).isTrue();
            assertThat(server.metrics().rejected()).isZero();
            try (RawClient next = RawClient.connect(server.address())) {
                assertThatThrownBy(() -> next.join(hello("k-early", "default", 0)))
                        .hasMessageContaining("does not know the token");
            }
        }
    }

    /** A door at which something happens between the judgement and the session. */
    private static PendingConnection.Gate slow(PendingConnection.Gate gate, Runnable meanwhile) {
        return new PendingConnection.Gate() {
            @Override
            public Admission judge(Hello hello) throws ProtocolException {
                Admission admission = gate.judge(hello);
                meanwhile.run();
                return admission;
            }

            @Override
            public Wire wire(SocketChannel channel) throws IOException {
                return gate.wire(channel);
            }

            @Override
            public void enter(Wire wire, FrameDecoder decoder, Admission admission, byte[] rest) throws IOException {
                gate.enter(wire, decoder, admission, rest);
            }
        };
    }

    private static void forget(FeedToken tokens, Path file, String token) {
        try {
            Files.writeString(file, "k-late\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Waiting.until(() -> tokens.rights(Optional.of(token)).isEmpty());
    }

    /** Slurm shows job ids to all users, and a process id is no secret either. */
    @Test
    void aReaderEndsNoTrainerByNamingItsProcessOrItsJob() throws IOException {
        Caller trainer = caller(1, 0);
        try (RawClient holder = RawClient.connect(node.address())) {
            holder.join(hello("k-trains", "eval-1", 0).by(trainer));
            for (Caller claimed : List.of(trainer, trainer.sentAt(Long.MAX_VALUE), caller(2, 1))) {
                try (RawClient reader = RawClient.connect(node.address())) {
                    assertThatThrownBy(() ->
                                    reader.join(hello("k-reads", "eval-1", 0).by(claimed)))
                            .hasMessageStartingWith("place_taken");
                }
            }
            try (RawClient reader = RawClient.connect(node.address())) {
                assertThatThrownBy(() -> reader.join(
                                hello("k-reads", "eval-1", Long.MAX_VALUE >> 1).by(trainer)))
                        .hasMessageStartingWith("unauthorized");
            }
            holder.send(new Ping(7));
            // Before its answer may come the question of the feeder whether the trainer is still there.
            assertThat(Stream.generate(() -> received(holder)).limit(2)).contains(new Pong(7));
            try (RawClient restarted = RawClient.connect(node.address())) {
                restarted.join(hello("k-trains", "eval-1", 0).by(caller(3, 1)));
            }
        }
    }

    private static Frame received(RawClient client) {
        try {
            return client.receive();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Caller caller(long pid, int restarts) {
        return new Caller(
                0,
                pid,
                false,
                Optional.of(new Instance("b", pid, 1, "gpu-3")),
                Optional.of(new Launch("slurm", "4711", restarts)));
    }

    @Test
    void onlyAnAdministratorTakesAConnectedTrainersPlaceByAGreaterRun() throws IOException {
        try (RawClient holder = RawClient.connect(node.address())) {
            long run = holder.join(hello("k-trains", "default", 0)).session().run();
            refused(hello("k-trains", "default", run + 1), "administer", "run " + (run + 1));
            holder.send(new Ping(1));
            assertThat(holder.receive()).isEqualTo(new Pong(1));
            try (RawClient administrator = RawClient.connect(node.address())) {
                administrator.join(hello("k-all", "default", run + 1));
                assertThatThrownBy(() -> holder.expect(LaneMap.class)).hasMessageContaining("fenced");
            }
        }
        Waiting.until(() -> node.metrics().sessions() == 0);
        try (RawClient next = RawClient.connect(node.address())) {
            next.join(hello("k-trains", "default", Long.MAX_VALUE >> 1));
        }
    }
}
