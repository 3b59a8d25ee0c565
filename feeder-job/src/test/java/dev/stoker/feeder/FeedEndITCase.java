package dev.stoker.feeder;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.connectors.shared.SharedFlink;
import dev.stoker.feeder.plan.FeedOptions;
import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.feeder.registry.StokerHome;
import dev.stoker.feeder.source.reader.StopSignal;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Ack;
import dev.stoker.schemas.protocol.AckEntry;
import dev.stoker.schemas.protocol.Batch;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.Bye;
import dev.stoker.schemas.protocol.Frame.Durable;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.server.FeedNode;
import dev.stoker.server.RawClient;
import dev.stoker.server.TestDataset;
import dev.stoker.server.Waiting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a feed with {@code --epochs} ends when all subscribed trainers have finished, and not before. */
@Timeout(120)
class FeedEndITCase {
    /** Each batch takes a checkpoint. The coordinator checks once a second whether the feed has ended. */
    private static final int BATCHES = 16;

    @RegisterExtension
    static final SharedFlink CLUSTER = SharedFlink.ofParallelism(1);

    @TempDir
    Path directory;

    private TestDataset dataset;
    private FeedPlan plan;
    private JobClient job;

    @BeforeEach
    void makeDataset() throws IOException {
        dataset = TestDataset.create(directory.resolve("data"), 11, 50, 4 * BATCHES);
    }

    @AfterEach
    void forget(@InjectMiniCluster MiniCluster cluster) throws Exception {
        RunningJobs.cancel(cluster);
        FeedNode.closeAll();
        StopSignal.clear(plan.id());
    }

    private void start(String name, String... streams) throws Exception {
        List<String> args = new ArrayList<>(List.of(streams));
        args.addAll(List.of(
                "--port=0",
                "--batch-size=4",
                "--lanes=1",
                "--checkpoint-interval=300 ms",
                "--parallelism=1",
                "--epochs=1",
                "--name=" + name));
        plan = FeedPlan.of(FeedOptions.parse(args.toArray(new String[0])));
        Files.deleteIfExists(StokerHome.feedFile(plan.name()));
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.setParallelism(1);
        new FeedGraph(plan).addTo(env);
        job = env.executeAsync();
    }

    private RawClient trainer(String stream, String group, int replica, long run) throws IOException {
        return trainer(Participant.rank(0, 1), stream, group, replica, run);
    }

    private RawClient trainer(Participant participant, String stream, String group, int replica, long run)
            throws IOException {
        Path file = StokerHome.feedFile(plan.name());
        Waiting.until(() -> Files.exists(file));
        String address = Files.readString(file).replaceAll("(?s).*\"addresses\":\\[\"([^\"]*)\".*", "$1");
        Hello any = RawClient.hello(participant, run);
        Hello hello = new Hello(
                any.token(),
                any.client(),
                new Hello.PassRequest(
                        any.pass().feed(),
                        Optional.of(stream),
                        group,
                        any.pass().order()),
                any.participant(),
                replica,
                run);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (true) {
            RawClient client = RawClient.connect(address);
            try {
                client.join(hello);
                return client;
            } catch (RawClient.Ended e) {
                client.close();
                // The place of a connection that was just closed is taken until the feeder has noticed it.
                if (!e.code().equals(ErrorCode.PLACE_TAKEN.text()) || System.nanoTime() > end) {
                    throw e;
                }
            }
        }
    }

    private static void subscribe(RawClient client, long first) throws IOException {
        client.send(new Subscribe(1, 0, first, 1, BATCHES - first, TailPolicy.PAD, List.of()));
        client.send(new Grant(1, BATCHES));
    }

    private static AckEntry receive(RawClient client) throws IOException {
        Batch batch = client.expectIntact();
        return AckEntry.of(batch.header());
    }

    /** Reads this number of batches, and acknowledges each one only when the previous one is durable. */
    private static void readSlowly(RawClient client, int count, int before) throws IOException {
        List<AckEntry> entries = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            entries.add(receive(client));
        }
        for (int i = 0; i < count; i++) {
            client.send(new Ack(1, 0, List.of(entries.get(i))));
            awaitDurable(client, before + i + 1);
        }
    }

    private static void awaitDurable(RawClient client, long count) throws IOException {
        while (true) {
            Frame frame = client.receive();
            if (frame instanceof Durable durable && durable.entries() >= count) {
                return;
            }
            assertThat(frame)
                    .as("the feed serves on")
                    .isNotInstanceOf(ErrorMessage.class)
                    .isNotInstanceOf(Bye.class);
        }
    }

    private static void readAtOnce(RawClient client) throws IOException {
        subscribe(client, 0);
        for (int i = 0; i < BATCHES; i++) {
            client.send(new Ack(1, 0, List.of(receive(client))));
        }
    }

    private void ends() throws Exception {
        job.getJobExecutionResult().get(60, TimeUnit.SECONDS);
    }

    @Test
    @Tag("full-feeds")
    void aReconnectInTheLastEpochEndsNothing() throws Exception {
        start("end-reconnect", dataset.path().toString());
        List<AckEntry> undurable = new ArrayList<>();
        try (RawClient broken = trainer("train", "default", 0, 7)) {
            subscribe(broken, 0);
            for (int i = 0; i < 3; i++) {
                undurable.add(receive(broken));
            }
        }
        try (RawClient client = trainer("train", "default", 0, 7)) {
            subscribe(client, 3);
            client.send(new Ack(1, 0, undurable));
            readSlowly(client, BATCHES - 3, 3);
            ends();
        }
    }

    @Test
    @Tag("full-feeds")
    void askingForNothingMoreAfterAReconnectEndsNothing() throws Exception {
        start("end-received", dataset.path().toString());
        List<AckEntry> held = new ArrayList<>();
        try (RawClient broken = trainer("train", "default", 0, 7)) {
            subscribe(broken, 0);
            for (int i = 0; i < BATCHES; i++) {
                held.add(receive(broken));
            }
        }
        try (RawClient client = trainer("train", "default", 0, 7)) {
            // All batches have arrived, but the trainer has not consumed most of them yet.
            client.send(new Subscribe(1, 0, BATCHES, 1, 0, TailPolicy.PAD, List.of()));
            for (int i = 0; i < BATCHES; i++) {
                client.send(new Ack(1, 0, List.of(held.get(i))));
                awaitDurable(client, i + 1);
            }
            ends();
        }
    }

    @Test
    @Tag("full-feeds")
    void aFastGroupDoesNotEndASlowOne() throws Exception {
        start("end-groups", dataset.path().toString());
        try (RawClient slow = trainer("train", "slow", 0, 0);
                RawClient fast = trainer("train", "fast", 0, 0)) {
            subscribe(slow, 0);
            readAtOnce(fast);
            readSlowly(slow, BATCHES, 0);
            ends();
        }
    }

    @Test
    @Tag("full-feeds")
    void aFastReplicaDoesNotEndASlowOne() throws Exception {
        start("end-replicas", dataset.path().toString());
        try (RawClient slow = trainer("train", "default", 1, 7);
                RawClient fast = trainer("train", "default", 0, 7)) {
            subscribe(slow, 0);
            readAtOnce(fast);
            readSlowly(slow, BATCHES, 0);
            ends();
        }
    }

    @Test
    @Tag("full-feeds")
    void aValidationBeforeTheTrainingDoesNotEndTheFeed() throws Exception {
        start("end-streams", dataset.path().toString(), "val=" + dataset.path());
        try (RawClient val = trainer("val", "default", 0, 0)) {
            subscribe(val, 0);
            readSlowly(val, BATCHES, 0);
            try (RawClient train = trainer("train", "default", 0, 0)) {
                subscribe(train, 0);
                readSlowly(train, BATCHES, 0);
                ends();
            }
        }
    }

    @Test
    @Tag("full-feeds")
    void ranksAndWorkersWithoutABatchAreNotWaitedFor() throws Exception {
        start("end-empty-shares", dataset.path().toString());
        int world = 2 * BATCHES;
        for (int rank = 0; rank < world; rank++) {
            try (RawClient client = trainer(Participant.rank(rank, world), "train", "default", 0, 7)) {
                boolean isEmpty = rank >= BATCHES;
                client.send(
                        new Subscribe(1, 0, rank, world, isEmpty ? 0 : 1, TailPolicy.KEEP, List.of(), isEmpty, rank));
                if (!isEmpty) {
                    client.send(new Grant(1, world));
                    client.send(new Ack(1, 0, List.of(receive(client))));
                }
                if (isEmpty) {
                    awaitDurable(client, 1);
                }
            }
        }
        ends();
    }

    @Test
    void aRankThatWasRestartedBehindItsLastBatchIsNotWaitedFor() throws Exception {
        start("end-empty-rest", dataset.path().toString());
        // A new run, at a position where one batch is left.
        try (RawClient first = trainer(Participant.rank(0, 2), "train", "default", 0, 9);
                RawClient second = trainer(Participant.rank(1, 2), "train", "default", 0, 9)) {
            second.send(new Subscribe(1, 0, BATCHES - 1, 2, 1, TailPolicy.KEEP, List.of()));
            second.send(new Grant(1, BATCHES));
            second.send(new Ack(1, 0, List.of(receive(second))));
            first.send(new Subscribe(1, 0, BATCHES, 2, 0, TailPolicy.KEEP, List.of(), true, Subscribe.NONE));
            awaitDurable(first, 1);
            ends();
        }
    }
}
