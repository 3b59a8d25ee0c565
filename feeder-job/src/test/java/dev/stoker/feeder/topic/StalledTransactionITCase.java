package dev.stoker.feeder.topic;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.connectors.kafka.KafkaBroker;
import dev.stoker.connectors.shared.SharedFlink;
import dev.stoker.connectors.shared.SharedKafka;
import dev.stoker.feeder.RunningJobs;
import dev.stoker.feeder.StalledCheckpoints;
import dev.stoker.feeder.StalledCheckpoints.Stall;
import dev.stoker.feeder.source.reader.StopSignal;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.server.TestDataset;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that an exactly-once feed to a topic commits nothing while the file system of its checkpoints hangs, and that
 * it continues when the file system answers again.
 */
@Timeout(240)
class StalledTransactionITCase {

    @RegisterExtension
    static final SharedFlink CLUSTER = SharedFlink.ofParallelism(1);

    @RegisterExtension
    static final SharedKafka KAFKA = SharedKafka.withTopics("stalled-");

    @TempDir
    Path directory;

    private UUID feed;

    @AfterEach
    void forget(@InjectMiniCluster MiniCluster cluster) throws Exception {
        StalledCheckpoints.end();
        RunningJobs.cancel(cluster);
        if (feed != null) {
            StopSignal.clear(feed);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aFeedToATopicCompletesItsTransactionsAfterwards(Stall stall, @InjectMiniCluster MiniCluster cluster)
            throws Exception {
        TestDataset dataset = TestDataset.create(directory.resolve("data"), 11, 50, 40, 40);
        KafkaBroker broker = SharedKafka.broker();
        String topic = "stalled-" + stall;
        TopicFeedPlan arguments = TopicFeedPlan.of(TopicFeedOptions.parse(new String[] {
            dataset.path().toString(),
            "--to=kafka",
            "--bootstrap=" + broker.bootstrap(),
            "--topic=" + topic,
            "--name=" + topic,
            "--delivery=exactly-once",
            "--batch-size=4",
            "--lanes=2",
            "--world-size=1",
            "--parallelism=1",
            "--epochs=300",
            "--checkpoint-interval=200 ms"
        }));
        feed = arguments.feed().id();
        StreamExecutionEnvironment env = StalledCheckpoints.environment(directory.resolve("checkpoints"));
        env.setParallelism(1);
        TopicFeedJob.build(env, arguments);
        StalledCheckpoints.begin(stall);
        JobClient job = env.executeAsync();
        StalledCheckpoints.await(stall, cluster, job);
        assertThat(job.getJobStatus().get()).isEqualTo(JobStatus.RUNNING);
        assertThat(Topic.read(broker.bootstrap(), topic, 2).values()).allMatch(List::isEmpty);
        StalledCheckpoints.end();
        job.getJobExecutionResult().get(120, TimeUnit.SECONDS);
        OrderSpec order = OrderSpec.fromJson(arguments.feed().order());
        Topic.verify(dataset, order, 300, Topic.read(broker.bootstrap(), topic, 2));
    }
}
