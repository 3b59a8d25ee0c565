package dev.stoker.feeder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.feeder.plan.FeedOptions;
import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.feeder.registry.StokerHome;
import dev.stoker.feeder.source.reader.StopSignal;
import dev.stoker.metadata.Dataset;
import dev.stoker.schemas.ledger.LedgerReader;
import dev.stoker.schemas.ledger.LedgerRecord;
import dev.stoker.schemas.ledger.Receipt;
import dev.stoker.schemas.ledger.Receipts;
import dev.stoker.schemas.ledger.Subscription;
import dev.stoker.schemas.order.EpochSize;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.StreamOrder;
import dev.stoker.schemas.order.delivery.Delivery;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Ack;
import dev.stoker.schemas.protocol.AckEntry;
import dev.stoker.schemas.protocol.Batch;
import dev.stoker.schemas.protocol.BatchIdentity;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.Durable;
import dev.stoker.schemas.protocol.Frame.EpochEnd;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Frame.Ping;
import dev.stoker.schemas.protocol.Frame.Pong;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.server.FeedNode;
import dev.stoker.server.RawClient;
import dev.stoker.server.TestDataset;
import dev.stoker.server.Waiting;
import dev.stoker.storage.LocalObjectStore;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The feeder as a Flink job, on a cluster of several TaskManagers. */
@Timeout(120)
class FeedJobITCase {

    @RegisterExtension
    static final MiniClusterExtension CLUSTER = new MiniClusterExtension(new MiniClusterResourceConfiguration.Builder()
            .setNumberTaskManagers(4)
            .setNumberSlotsPerTaskManager(1)
            .build());

    @TempDir
    Path directory;

    private TestDataset dataset;
    private FeedPlan plan;

    @BeforeEach
    void makeDataset() throws IOException {
        dataset = TestDataset.create(directory.resolve("data with spaces"), 11, 200, 9, 14, 3, 11, 8, 12, 1, 10, 13, 7);
    }

    @AfterEach
    void forget(@InjectMiniCluster MiniCluster cluster) throws Exception {
        RunningJobs.cancel(cluster);
        FeedNode.closeAll();
        if (plan != null) {
            StopSignal.clear(plan.id());
        }
    }

    private JobClient start(int parallelism, String... options) throws Exception {
        List<String> args = new ArrayList<>(List.of(
                dataset.path().toString(),
                "--port=0",
                "--batch-size=6",
                "--lanes=5",
                "--shuffle-window=12 kb",
                "--seed=5",
                "--checkpoint-interval=300 ms",
                "--parallelism=" + parallelism));
        args.addAll(Arrays.asList(options));
        plan = FeedPlan.of(FeedOptions.parse(args.toArray(new String[0])));
        // What a cancelled feed of an earlier build left names the same feed.
        Files.deleteIfExists(StokerHome.feedFile(plan.name()));
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.setParallelism(1);
        new FeedGraph(plan).addTo(env);
        return env.executeAsync();
    }

    private String feedFile() {
        Path file = StokerHome.feedFile(plan.name());
        try {
            return Files.exists(file) ? Files.readString(file) : "";
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** The address in the file by which trainers find the feed. */
    private String address() {
        String id = plan.id().toString();
        Waiting.until(() -> feedFile().contains(id) && !feedFile().contains("ended_ms"));
        return feedFile().replaceAll("(?s).*\"addresses\":\\[\"([^\"]*)\".*", "$1");
    }

    /** Reads an epoch and acknowledges every piece. Returns the receipts. */
    private List<Receipt> consume(RawClient client, long epoch, Participant participant) throws IOException {
        OrderSpec order = OrderSpec.fromJson(plan.order());
        EpochSize size;
        try (var store = new LocalObjectStore(dataset.path())) {
            size = new StreamOrder(Dataset.open(store).snapshot().stream("train"), order).size();
        }
        Delivery delivery = new Delivery(size, TailPolicy.PAD, participant, 0);
        client.send(new Subscribe(
                (int) epoch + 1,
                epoch,
                delivery.first(),
                delivery.stride(),
                delivery.steps(),
                TailPolicy.PAD,
                List.of()));
        client.send(new Grant(epoch + 1, Long.MAX_VALUE));
        List<Receipt> receipts = new ArrayList<>();
        while (true) {
            Frame frame = client.receive();
            if (frame instanceof Batch batch) {
                assertThat(batch.isIntact()).isTrue();
                BatchIdentity id = batch.header().identity();
                AckEntry entry = AckEntry.of(batch.header());
                client.send(new Ack(batch.header().subscription(), id.epoch(), List.of(entry)));
                receipts.add(new Receipt(
                        id.number(),
                        id.piece(),
                        id.repeated(),
                        (int) id.rows(),
                        (int) id.skipped(),
                        batch.header().crc(),
                        (int) batch.header().source().rows(),
                        batch.header().source().crc32c()));
            } else if (frame instanceof EpochEnd) {
                return receipts;
            }
        }
    }

    private List<LedgerRecord> ledger() throws IOException {
        List<LedgerRecord> records = new ArrayList<>();
        try (Stream<Path> files = Files.list(Path.of(plan.ledger()))) {
            for (Path file : files.filter(f -> f.getFileName().toString().startsWith("part-"))
                    .toList()) {
                try (InputStream in = Files.newInputStream(file)) {
                    LedgerReader reader = new LedgerReader(in, file.toString());
                    for (Optional<LedgerRecord> next = reader.next(); next.isPresent(); next = reader.next()) {
                        records.add(next.get());
                    }
                }
            }
        }
        return records;
    }

    private List<Receipt> receipts(long epoch) throws IOException {
        return ledger().stream()
                .filter(Receipts.class::isInstance)
                .map(Receipts.class::cast)
                .filter(receipts -> receipts.epoch() == epoch)
                .flatMap(receipts -> receipts.entries().stream())
                .toList();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void recordsEveryReceiptAndEndsAfterItsEpochs(int parallelism) throws Exception {
        JobClient job = start(parallelism, "--epochs=2", "--name=epochs" + parallelism);
        List<List<Receipt>> given = new ArrayList<>();
        try (RawClient first = RawClient.connect(address());
                RawClient second = RawClient.connect(address())) {
            first.join(RawClient.hello(Participant.rank(0, 2), 7));
            second.join(RawClient.hello(Participant.rank(1, 2), 7));
            for (int epoch = 0; epoch < 2; epoch++) {
                List<Receipt> both = new ArrayList<>(consume(first, epoch, Participant.rank(0, 2)));
                both.addAll(consume(second, epoch, Participant.rank(1, 2)));
                given.add(both);
            }
            job.getJobExecutionResult().get(60, TimeUnit.SECONDS);
        }
        for (int epoch = 0; epoch < 2; epoch++) {
            assertThat(receipts(epoch)).containsExactlyInAnyOrderElementsOf(given.get(epoch));
        }
        assertThat(ledger().stream().filter(Subscription.class::isInstance)).hasSize(4);
        // The coordinator says so after the job's result is out.
        Waiting.until(() -> feedFile().contains("ended_ms"));
    }

    @Test
    void callsReceiptsDurableOnceTheyStandInTheLedger() throws Exception {
        JobClient job = start(1, "--name=durable");
        try (RawClient client = RawClient.connect(address())) {
            client.join(RawClient.hello());
            int given = consume(client, 0, Participant.rank(0, 1)).size();
            long durable = 0;
            while (durable < given) {
                durable = client.expect(Durable.class).entries();
                assertThat(receipts(0)).hasSizeGreaterThanOrEqualTo((int) durable);
            }
            assertThat(durable).isEqualTo(given);
        }
        job.cancel().get();
    }

    @Test
    void servesOnWhileATaskManagerIsLost(@InjectMiniCluster MiniCluster cluster) throws Exception {
        JobClient job = start(4, "--name=lost", "--epochs=30");
        List<List<Receipt>> given = new ArrayList<>();
        try (RawClient client = RawClient.connect(address())) {
            client.join(RawClient.hello());
            for (int epoch = 0; epoch < 30; epoch++) {
                if (epoch == 5) {
                    cluster.terminateTaskManager(1).get();
                    cluster.startTaskManager();
                }
                given.add(consume(client, epoch, Participant.rank(0, 1)));
            }
            job.getJobExecutionResult().get(60, TimeUnit.SECONDS);
        }
        for (int epoch = 0; epoch < 30; epoch++) {
            assertThat(receipts(epoch)).as("epoch %d", epoch).containsAll(given.get(epoch));
        }
    }

    @Test
    void endsInGoodOrderWhenAskedTo() throws Exception {
        JobClient job = start(2, "--name=asked");
        List<Receipt> given;
        try (RawClient client = RawClient.connect(address())) {
            client.join(RawClient.hello());
            given = consume(client, 0, Participant.rank(0, 1));
            // The feeder reads the frames of a trainer in their order.
            client.send(new Ping(1));
            while (!(client.receive() instanceof Pong)) {
                // Receipts may become durable meanwhile.
            }
            StopSignal.of(plan.id()).request();
            job.getJobExecutionResult().get(60, TimeUnit.SECONDS);
        }
        assertThat(receipts(0)).containsExactlyInAnyOrderElementsOf(given);
    }

    @Test
    void endsWhenNoTrainerComes() throws Exception {
        JobClient job = start(2, "--name=idle", "--idle-timeout=1 s");
        job.getJobExecutionResult().get(60, TimeUnit.SECONDS);
    }

    @Test
    void failsAtOnceWhenThePortIsTaken() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            JobClient job = start(1, "--name=taken", "--port=" + taken.getLocalPort());
            long began = System.nanoTime();
            assertThatThrownBy(() -> job.getJobExecutionResult().get(60, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .hasStackTraceContaining("port " + taken.getLocalPort());
            assertThat(TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began))
                    .isLessThan(30);
        }
    }

    @Test
    void eachSubtaskIsItsOwnFailoverRegion() throws Exception {
        start(2, "--name=graph").cancel().get();
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.setParallelism(2);
        new FeedGraph(plan).addTo(env);
        assertThat(env.getStreamGraph().getJobGraph().getNumberOfVertices()).isEqualTo(1);
    }
}
