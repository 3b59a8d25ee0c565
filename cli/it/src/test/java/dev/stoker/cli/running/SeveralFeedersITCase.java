package dev.stoker.cli.running;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.cli.Waiting;
import dev.stoker.client.Batch;
import dev.stoker.client.FeedClient;
import dev.stoker.feeder.FeedGraph;
import dev.stoker.feeder.FeedJob;
import dev.stoker.feeder.plan.FeedOptions;
import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.feeder.registry.StokerHome;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.server.FeedNode;
import dev.stoker.server.RawClient;
import dev.stoker.server.TestDataset;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import dev.stoker.storage.hadoop.FaultProxy;
import dev.stoker.storage.hadoop.HadoopSettings;
import dev.stoker.storage.hadoop.S3Server;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.client.JobStatusMessage;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * One job with four feeders, whose classes are loaded separately as in separate processes: counts their requests to an
 * S3 server.
 */
@Timeout(300)
class SeveralFeedersITCase {
    private static final int FEEDERS = 4;
    private static final int CHUNKS = 24;
    private static final List<String> GROUPS = List.of("training", "validation", "other");

    @RegisterExtension
    static final MiniClusterExtension CLUSTER = new MiniClusterExtension(new MiniClusterResourceConfiguration.Builder()
            .setNumberTaskManagers(FEEDERS)
            .setNumberSlotsPerTaskManager(1)
            .build());

    @TempDir
    static Path directory;

    private static FaultProxy proxy;
    private static TestDataset dataset;
    private static String s3;
    private static long chunkBytes;
    private static long samples;

    @BeforeAll
    static void makeDataset() throws Exception {
        proxy = FaultProxy.start(S3Server.shared().endpoint(), 1);
        HadoopSettings.use(S3Server.settings(proxy.endpoint()));
        int[] rows = new int[CHUNKS];
        for (int i = 0; i < CHUNKS; i++) {
            rows[i] = 20 + i % 7;
            samples += rows[i];
        }
        dataset = TestDataset.create(directory.resolve("data"), 11, 4000, rows);
        s3 = "s3a://" + S3Server.BUCKET + "/" + UUID.randomUUID();
        try (ObjectStore store = Stores.open(s3);
                Stream<Path> files = Files.walk(dataset.path())) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                store.createIfAbsent(dataset.path().relativize(file).toString(), Files.readAllBytes(file));
            }
        }
        for (int chunk = 0; chunk < CHUNKS; chunk++) {
            chunkBytes += dataset.summary(chunk).length();
        }
    }

    @AfterAll
    static void clear() throws IOException {
        HadoopSettings.clear();
        proxy.close();
    }

    @AfterEach
    void endJobs(@InjectMiniCluster MiniCluster cluster) throws Exception {
        for (JobStatusMessage job : cluster.listJobs().get()) {
            if (!job.getJobState().isGloballyTerminalState()) {
                end(cluster, job.getJobId());
            }
        }
        // A cancelled job may be about to resume elsewhere, so its feed stays known.
        for (String name : List.of("once", "again")) {
            Files.deleteIfExists(StokerHome.feedFile(name));
        }
    }

    private static void end(MiniCluster cluster, JobID job) throws Exception {
        cluster.cancelJob(job).get();
        cluster.requestJobResult(job).get();
    }

    /** Submits a feed of four subtasks, one to each TaskManager, and waits until each feeder knows of all. */
    private static JobID start(MiniCluster cluster, String name, String... options) throws Exception {
        List<String> args = new ArrayList<>(List.of(
                s3,
                "--name=" + name,
                "--port=0",
                "--batch-size=7",
                "--lanes=8",
                "--shuffle-window=400 kb",
                "--parallelism=" + FEEDERS,
                "--checkpoint-interval=300 ms",
                "--ledger=" + directory.resolve("ledger-" + name)));
        args.addAll(List.of(options));
        FeedPlan plan = FeedPlan.of(FeedOptions.parse(args.toArray(new String[0])));
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.setParallelism(1);
        new FeedGraph(plan).addTo(env);
        JobGraph graph = env.getStreamGraph().getJobGraph();
        // As in a job jar: every TaskManager loads the feeder's classes separately, and so has a separate node.
        graph.setClasspaths(Stream.of(FeedNode.class, FeedJob.class)
                .map(part -> part.getProtectionDomain().getCodeSource().getLocation())
                .toList());
        Files.deleteIfExists(StokerHome.feedFile(name));
        JobID job = cluster.submitJob(graph).get().getJobID();
        Waiting.until(() -> maps(name) == 1);
        return job;
    }

    /** The number of different lane maps that the feeders send to trainers; 0 while one does not answer. */
    private static int maps(String name) throws IOException {
        Optional<FeedFile> file = FeedFile.find(name);
        if (file.isEmpty()) {
            return 0;
        }
        List<LaneMap> maps = new ArrayList<>();
        for (String address : file.get().addresses().split(",")) {
            try (var client = RawClient.connect(address)) {
                maps.add(client.join(RawClient.hello()).laneMap());
            } catch (IOException e) {
                return 0;
            }
        }
        return maps.size() < FEEDERS ? 0 : Set.copyOf(maps).size();
    }

    /** Reads two epochs and returns the samples of each; between them all groups wait for each other. */
    private static List<Long> read(String name, String group, CyclicBarrier between) throws Exception {
        List<Long> rows = new ArrayList<>();
        try (FeedClient client = FeedClient.of(name).group(group).epochs(2).open()) {
            for (int epoch = 0; epoch < 2; epoch++) {
                long sum = 0;
                for (Batch batch : client.epoch()) {
                    sum += batch.rows() - batch.repeated();
                    batch.close();
                }
                rows.add(sum);
                if (epoch == 0) {
                    between.await(100, TimeUnit.SECONDS);
                }
            }
        }
        return rows;
    }

    @Test
    void fourFeedersAndThreeGroupsReadTheDatasetOnce(@InjectMiniCluster MiniCluster cluster) throws Exception {
        start(cluster, "once", "--tier=memory:64m");
        proxy.resetCounts();
        List<Map<String, Long>> requests = new ArrayList<>();
        List<Long> bytes = new ArrayList<>();
        CyclicBarrier between = new CyclicBarrier(GROUPS.size(), () -> {
            requests.add(proxy.counts());
            bytes.add(proxy.bytesToClients());
        });
        ExecutorService trainers = Executors.newFixedThreadPool(GROUPS.size());
        try {
            List<Future<List<Long>>> groups = GROUPS.stream()
                    .map(group -> trainers.submit(() -> read("once", group, between)))
                    .toList();
            for (Future<List<Long>> group : groups) {
                assertThat(group.get(200, TimeUnit.SECONDS)).containsExactly(samples, samples);
            }
        } finally {
            trainers.shutdownNow();
        }
        assertThat(bytes).as("bytes of the first epoch").containsExactly(chunkBytes);
        assertThat(requests).as("requests of the first epoch").containsExactly(Map.of("GET", (long) CHUNKS));
        assertThat(proxy.counts()).as("requests of both epochs").isEqualTo(Map.of("GET", (long) CHUNKS));
    }

    @Test
    void aJobThatIsStartedAgainFindsItsChunksOnTheMachine(@InjectMiniCluster MiniCluster cluster) throws Exception {
        Path cache = directory.resolve("cache");
        String[] options = {"--tier=disk:" + cache + ":1g", "--cache-lifetime=node"};
        JobID job = start(cluster, "again", options);
        CyclicBarrier alone = new CyclicBarrier(1);
        assertThat(read("again", "training", alone)).containsExactly(samples, samples);
        Waiting.until(() -> chunksIn(cache) == CHUNKS);
        end(cluster, job);

        proxy.resetCounts();
        start(cluster, "again", options);
        long opening = proxy.requests();
        assertThat(read("again", "training", alone)).containsExactly(samples, samples);
        assertThat(proxy.log().stream().map(FaultProxy.Request::target).filter(target -> target.contains("/chunks/")))
                .as("chunks that were asked for")
                .isEmpty();
        assertThat(proxy.requests()).as("once the feeders serve").isEqualTo(opening);
        assertThat(proxy.bytesToClients()).as("the log").isLessThan(chunkBytes / 5);
    }

    private static long chunksIn(Path cache) throws IOException {
        try (Stream<Path> files = Files.walk(cache)) {
            return files.filter(file -> file.toString().endsWith(".arrow")).count();
        } catch (UncheckedIOException e) {
            // One was renamed meanwhile.
            return 0;
        }
    }
}
