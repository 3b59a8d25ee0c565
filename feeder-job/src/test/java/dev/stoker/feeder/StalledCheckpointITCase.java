package dev.stoker.feeder;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.connectors.shared.SharedFlink;
import dev.stoker.feeder.StalledCheckpoints.Stall;
import dev.stoker.feeder.plan.FeedOptions;
import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.feeder.registry.StokerHome;
import dev.stoker.feeder.source.reader.StopSignal;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Ack;
import dev.stoker.schemas.protocol.AckEntry;
import dev.stoker.schemas.protocol.Batch;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.Bye;
import dev.stoker.schemas.protocol.Frame.Durable;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Frame.Ping;
import dev.stoker.schemas.protocol.Frame.Pong;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.testing.Cells;
import dev.stoker.server.FeedNode;
import dev.stoker.server.RawClient;
import dev.stoker.server.TestDataset;
import dev.stoker.server.Waiting;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that a feed serves trainers while the file system of its checkpoints hangs, and that it completes its
 * checkpoints when the file system answers again.
 */
@Timeout(180)
@Tag("full-feeds")
class StalledCheckpointITCase {
    private static final int BATCHES = 16;

    @RegisterExtension
    static final SharedFlink CLUSTER = SharedFlink.ofParallelism(1);

    @TempDir
    Path directory;

    private UUID feed;
    private long durable;

    @AfterEach
    void forget(@InjectMiniCluster MiniCluster cluster) throws Exception {
        StalledCheckpoints.end();
        RunningJobs.cancel(cluster);
        FeedNode.closeAll();
        if (feed != null) {
            StopSignal.clear(feed);
        }
    }

    private static Stream<Stall> stalls() {
        return Cells.drawn(Stream.of(Stall.values()));
    }

    @ParameterizedTest
    @MethodSource("stalls")
    void aFeedServesOnAndItsReceiptsBecomeDurableAfterwards(Stall stall, @InjectMiniCluster MiniCluster cluster)
            throws Exception {
        TestDataset dataset = TestDataset.create(directory.resolve("data"), 11, 50, 4 * BATCHES);
        FeedPlan plan = FeedPlan.of(FeedOptions.parse(new String[] {
            dataset.path().toString(),
            "--port=0",
            "--batch-size=4",
            "--lanes=1",
            "--checkpoint-interval=200 ms",
            "--parallelism=1",
            "--epochs=1",
            "--name=stalled-" + stall
        }));
        feed = plan.id();
        Path file = StokerHome.feedFile(plan.name());
        Files.deleteIfExists(file);
        StreamExecutionEnvironment env = StalledCheckpoints.environment(directory.resolve("checkpoints"));
        env.setParallelism(1);
        new FeedGraph(plan).addTo(env);
        JobClient job = env.executeAsync();
        Waiting.until(() -> Files.exists(file));
        String address = Files.readString(file).replaceAll("(?s).*\"addresses\":\\[\"([^\"]*)\".*", "$1");
        try (RawClient client = RawClient.connect(address)) {
            client.join(RawClient.hello());
            client.send(new Subscribe(1, 0, 0, 1, BATCHES, TailPolicy.PAD, List.of()));
            client.send(new Grant(1, BATCHES / 2 - 1));
            acknowledge(client, BATCHES / 2);
            awaitDurable(client, BATCHES / 2);
            StalledCheckpoints.begin(stall);
            StalledCheckpoints.await(stall, cluster, job);
            client.send(new Grant(1, BATCHES));
            acknowledge(client, BATCHES / 2);
            assertThat(job.getJobStatus().get()).isEqualTo(JobStatus.RUNNING);
            StalledCheckpoints.end();
            awaitDurable(client, BATCHES);
            job.getJobExecutionResult().get(60, TimeUnit.SECONDS);
        }
    }

    private void acknowledge(RawClient client, int count) throws Exception {
        for (int acknowledged = 0; acknowledged < count; ) {
            if (receive(client) instanceof Batch batch) {
                assertThat(batch.isIntact()).isTrue();
                client.send(new Ack(1, 0, List.of(AckEntry.of(batch.header()))));
                acknowledged++;
            }
        }
    }

    private void awaitDurable(RawClient client, long count) throws Exception {
        while (durable < count) {
            receive(client);
        }
    }

    private Frame receive(RawClient client) throws Exception {
        Frame frame = client.receive();
        assertThat(frame)
                .as("the feed continues")
                .isNotInstanceOf(ErrorMessage.class)
                .isNotInstanceOf(Bye.class);
        if (frame instanceof Durable more) {
            durable = more.entries();
        } else if (frame instanceof Ping ping) {
            client.send(new Pong(ping.opaque()));
        }
        return frame;
    }
}
