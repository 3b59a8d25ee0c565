package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.stoker.cli.running.FeedFile;
import dev.stoker.connectors.kafka.KafkaBroker;
import dev.stoker.connectors.kafka.KafkaTarget;
import dev.stoker.connectors.kafka.topic.TopicReader;
import dev.stoker.connectors.shared.SharedKafka;
import dev.stoker.feeder.registry.StokerHome;
import dev.stoker.flink.embedded.ListeningSockets;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.VersionUses;
import dev.stoker.schemas.dataset.VersionUse;
import dev.stoker.schemas.kafka.RecordPosition;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Ack;
import dev.stoker.schemas.protocol.AckEntry;
import dev.stoker.schemas.protocol.Batch;
import dev.stoker.schemas.protocol.BatchIdentity;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.EpochEnd;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.server.RawClient;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import dev.stoker.storage.hadoop.HadoopSettings;
import dev.stoker.storage.hadoop.S3Server;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Both job jars on a real cluster: one JobManager and two TaskManagers, each a process with a separate address. The
 * dataset is on S3.
 */
@Timeout(400)
class ClusterITCase {

    private static final JsonMapper JSON = new JsonMapper();
    private static final int SAMPLES = 600;
    /** Each of these objects would keep the classes of its job. */
    private static final List<String> THREADS_OF_STORES =
            List.of("StatisticsDataReferenceCleaner", "MutableQuantiles", "response-input-stream-timeout-scheduler");

    @RegisterExtension
    static final SharedKafka KAFKA = SharedKafka.withTopics("cluster-");

    @TempDir
    Path directory;

    @AfterEach
    void clear() {
        HadoopSettings.clear();
    }

    /** The cluster here has other addresses of loopback, and so replaces these. */
    @Test
    void theConfigurationOfOneMachineBindsToLoopback() throws Exception {
        String config = Files.readString(Path.of("..", "..", "flink-conf", "one-machine", "config.yaml"));
        assertThat(config)
                .contains("jobmanager:\n  bind-host: 127.0.0.1\n  rpc: {address: 127.0.0.1,")
                .contains("taskmanager:\n  bind-host: 127.0.0.1\n  host: 127.0.0.1\n")
                .contains("rest: {address: 127.0.0.1, bind-address: 127.0.0.1,");
    }

    @Test
    void runsBothJobsAndServesOnWhenATaskManagerIsKilled() throws Exception {
        Path source = directory.resolve("photos");
        for (int i = 0; i < SAMPLES; i++) {
            Path file = source.resolve("class" + i % 3).resolve("s" + i + ".jpg");
            Files.createDirectories(file.getParent());
            Files.write(file, new byte[2000 + i]);
        }
        String dataset = "s3a://" + S3Server.BUCKET + "/" + UUID.randomUUID();
        HadoopSettings.use(S3Server.shared().settings());
        Files.deleteIfExists(StokerHome.feedFile("cluster"));
        try (FlinkCluster cluster =
                new FlinkCluster(directory, S3Server.shared().settings())) {
            cluster.startJobManager();
            cluster.startTaskManager("tm1", "127.0.0.3");
            cluster.startTaskManager("tm2", "127.0.0.4");
            cluster.awaitTaskManagers(2);

            String ingested = cluster.run(
                    FlinkCluster.job("ingest"),
                    source.toString(),
                    dataset,
                    "--label-from=parent-dir",
                    "--chunk-size=64 kb",
                    "--parallelism=2");
            assertThat(ingested).contains("version 1: 600 samples");
            String detached = directory.resolve("detached").toString();
            assertThat(cluster.run("-d", FlinkCluster.job("ingest"), source.toString(), detached))
                    .contains("600 samples", "JobID", "stoker log " + detached);
            cluster.await(() -> rows("detached") == SAMPLES, "version of the detached ingest");

            KafkaBroker broker = SharedKafka.broker();
            writesATopic(cluster, dataset, broker);
            ingestsATopic(cluster, broker);

            cluster.run(
                    "-d",
                    FlinkCluster.job("feeder"),
                    dataset,
                    "--name=cluster",
                    "--port=0",
                    "--batch-size=10",
                    "--lanes=4",
                    "--epochs=3",
                    "--parallelism=2",
                    "--checkpoint-interval=500 ms");
            cluster.await(() -> addresses().size() == 2, "feed with two servers");
            assertThat(cluster.sockets())
                    .hasSize(3)
                    .allSatisfy((process, sockets) ->
                            assertThat(sockets).as(process).isNotEmpty().allMatch(ListeningSockets.Socket::isLocal));

            try (RawClient client = RawClient.connect(addresses().get(0))) {
                Welcome welcome = client.join(RawClient.hello(Participant.rank(0, 1), 0));
                assertThat(welcome.laneMap().addresses()).hasSize(2);
                int batches = SAMPLES / 10;
                assertThat(consume(client, 0, batches).values().stream()
                                .mapToInt(Integer::intValue)
                                .sum())
                        .isEqualTo(SAMPLES);
                cluster.await(() -> metric(cluster, "stoker.rows") >= SAMPLES, "metric stoker.rows");
                assertThat(metric(cluster, "stoker.batches")).isGreaterThanOrEqualTo(batches);

                String served = hostOf(cluster, addresses().get(0));
                cluster.kill(served.equals("tm1") ? "tm2" : "tm1");
                for (int epoch = 1; epoch < 3; epoch++) {
                    assertThat(consume(client, epoch, batches)).hasSize(batches);
                }
                cluster.await(
                        () -> cluster.rest("/jobs/overview").matches("(?s).*stoker feed cluster[^}]*FINISHED.*"),
                        "end of the feed");
                stopsAFeed(cluster, dataset);
                for (String process : List.of("jobmanager", served)) {
                    cluster.await(
                            () -> THREADS_OF_STORES.stream().noneMatch(cluster.threads(process)::contains),
                            "end of " + THREADS_OF_STORES + " in " + process);
                }
            }
        }
        StringWriter said = new StringWriter();
        int code = Stoker.run(
                List.of("audit", "cluster", "--epochs", "3"), new PrintWriter(said, true), new PrintWriter(said, true));
        assertThat(code).as(said.toString()).isZero();
    }

    private static void stopsAFeed(FlinkCluster cluster, String dataset) throws Exception {
        Files.deleteIfExists(StokerHome.feedFile("stopped"));
        cluster.run("-d", FlinkCluster.job("feeder"), dataset, "--name=stopped", "--port=0", "--parallelism=1");
        cluster.await(() -> !addresses("stopped").isEmpty(), "feed without an end");
        Files.deleteIfExists(StokerHome.feedFile("beside"));
        assertThat(cluster.run(
                        "-d", FlinkCluster.job("feeder"), dataset, "--name=beside", "--port=0", "--idle-timeout=1 s"))
                .contains("this Flink cluster already runs stoker feed stopped");
        assertThatThrownBy(() -> cluster.run("-d", FlinkCluster.job("feeder"), dataset, "--name=stopped", "--port=0"))
                .hasMessageContaining("a feed stopped is already running on a Flink cluster (job ");
        StringWriter said = new StringWriter();
        PrintWriter out = new PrintWriter(said, true);
        assertThat(Stoker.run(List.of("feed", dataset, "--name=stopped", "--port=0"), out, out))
                .isEqualTo(1);
        assertThat(said.toString())
                .contains("a feed stopped is already running on a Flink cluster (job ", "stop it with stoker stop");
        UUID feed = FeedFile.require("stopped").id();
        assertThat(Stoker.run(List.of("stop", "stopped"), out, out))
                .as(() -> said + cluster.state())
                .isZero();
        assertThat(said.toString()).contains("feed stopped ended");
        cluster.await(
                () -> cluster.rest("/jobs/overview").matches("(?s).*stoker feed stopped[^}]*FINISHED.*"),
                "end of the stopped feed's job");
        try (ObjectStore store = Stores.open(dataset)) {
            assertThat(new VersionUses(Dataset.open(store)).all())
                    .extracting(VersionUse::feed)
                    .doesNotContain(feed);
        }
    }

    private static void writesATopic(FlinkCluster cluster, String dataset, KafkaBroker broker) throws Exception {
        cluster.run(
                FlinkCluster.job("feeder"),
                dataset,
                "--to=kafka",
                "--bootstrap=" + broker.bootstrap(),
                "--topic=cluster-photos",
                "--name=topic",
                "--world-size=2",
                "--follow",
                "--batch-size=10",
                "--lanes=4",
                "--epochs=2",
                "--parallelism=2",
                "--checkpoint-interval=500 ms");
        try (TopicReader topic = new TopicReader(target(broker))) {
            for (int lane = 0; lane < 4; lane++) {
                assertThat(topic.last(lane).orElseThrow().position()).isEqualTo(RecordPosition.end(1));
            }
        }
    }

    private static KafkaTarget target(KafkaBroker broker) {
        return new KafkaTarget(broker.bootstrap(), "cluster-photos", null, false, 60_000, 917_504);
    }

    /**
     * Ingests the topic that was just written like any other: once up to its end, and once until the job is stopped.
     */
    private void ingestsATopic(FlinkCluster cluster, KafkaBroker broker) throws Exception {
        long records = 0;
        try (TopicReader topic = new TopicReader(target(broker))) {
            for (int lane = 0; lane < 4; lane++) {
                records += topic.end(lane);
            }
        }
        assertThat(cluster.run(ingest(broker, "bounded", "--until=latest")))
                .contains(records + " samples", "the same command resumes at cluster-photos");
        assertThat(rows("bounded")).isEqualTo(records);

        List<String> detached = new ArrayList<>(List.of("-d"));
        detached.addAll(List.of(ingest(broker, "unbounded")));
        String said = cluster.run(detached.toArray(String[]::new));
        Matcher job = Pattern.compile("Job has been submitted with JobID ([0-9a-f]{32})")
                .matcher(said);
        assertThat(job.find()).as(said).isTrue();
        long all = records;
        cluster.await(() -> rows("unbounded") == all, "version of the whole topic");
        // flink-conf/monitoring/alerts.yaml asks for them, with the names that Prometheus gives them.
        cluster.await(
                () -> metricsOfAllTasks(cluster, job.group(1))
                        .containsAll(List.of("pendingRecords", "samples", "deadLetters", "successfulCommittables")),
                "metrics of the ingest");
        cluster.flink("stop", "-p", directory.resolve("savepoints").toUri().toString(), job.group(1));
        cluster.await(
                () -> cluster.rest("/jobs/" + job.group(1)).contains("\"state\":\"FINISHED\""), "end of the ingest");
        assertThat(rows("unbounded")).isEqualTo(records);
    }

    private String[] ingest(KafkaBroker broker, String dataset, String... more) {
        List<String> args = new ArrayList<>(List.of(
                FlinkCluster.job("ingest"),
                "kafka://" + broker.bootstrap() + "/cluster-photos",
                directory.resolve(dataset).toString(),
                "--value=raw",
                "--header=stoker.kind=kind",
                "--commit-interval=500 ms",
                "--parallelism=2"));
        args.addAll(List.of(more));
        return args.toArray(String[]::new);
    }

    /** Samples of a dataset's newest version. */
    private long rows(String dataset) {
        try (ObjectStore store = Stores.open(directory.resolve(dataset).toString())) {
            return Dataset.open(store).latest().table().liveRows();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Reads and acknowledges an epoch; returns the rows of each number. */
    private static Map<Long, Integer> consume(RawClient client, int epoch, long batches) throws IOException {
        client.send(new Subscribe(epoch + 1, epoch, 0, 1, batches, TailPolicy.KEEP, List.of()));
        client.send(new Grant(epoch + 1, Long.MAX_VALUE));
        Map<Long, Integer> rows = new TreeMap<>();
        while (true) {
            Frame frame = client.receive();
            if (frame instanceof Batch batch) {
                assertThat(batch.isIntact()).isTrue();
                BatchIdentity id = batch.header().identity();
                rows.merge(id.number(), (int) id.rows(), Integer::sum);
                AckEntry entry = AckEntry.of(batch.header());
                client.send(new Ack(batch.header().subscription(), id.epoch(), List.of(entry)));
            } else if (frame instanceof EpochEnd) {
                return rows;
            }
        }
    }

    private static List<String> addresses() {
        return addresses("cluster");
    }

    private static List<String> addresses(String feed) {
        try {
            return FeedFile.find(feed)
                    .map(file -> List.of(file.addresses().split(",")))
                    .orElse(List.of());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The largest value of a metric over the subtasks of the feeder. */
    private static long metric(FlinkCluster cluster, String name) {
        try {
            JsonNode jobs = JSON.readTree(cluster.rest("/jobs/overview")).path("jobs");
            for (JsonNode job : jobs) {
                if (!job.path("name").asText().equals("stoker feed cluster")) {
                    continue;
                }
                String path = "/jobs/" + job.path("jid").asText();
                JsonNode vertex =
                        JSON.readTree(cluster.rest(path)).path("vertices").path(0);
                String metrics = path + "/vertices/" + vertex.path("id").asText() + "/metrics";
                List<String> ids = JSON.readTree(cluster.rest(metrics)).findValuesAsText("id").stream()
                        .filter(id -> id.endsWith("." + name))
                        .toList();
                if (ids.isEmpty()) {
                    return -1;
                }
                String get = ids.stream().map(id -> id.replace(" ", "%20")).collect(Collectors.joining(","));
                return JSON.readTree(cluster.rest(metrics + "?get=" + get)).findValuesAsText("value").stream()
                        .mapToLong(value -> (long) Double.parseDouble(value))
                        .max()
                        .orElse(-1);
            }
            return -1;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The last parts of the names of the metrics that a job's operators have. */
    private static Set<String> metricsOfAllTasks(FlinkCluster cluster, String job) {
        Set<String> names = new TreeSet<>();
        try {
            for (JsonNode vertex : JSON.readTree(cluster.rest("/jobs/" + job)).path("vertices")) {
                String path = "/jobs/" + job + "/vertices/" + vertex.path("id").asText() + "/metrics";
                for (String id : JSON.readTree(cluster.rest(path)).findValuesAsText("id")) {
                    names.add(id.substring(id.lastIndexOf('.') + 1));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return names;
    }

    /** The TaskManager whose process listens on a server's address. */
    private static String hostOf(FlinkCluster cluster, String address) throws IOException {
        return cluster.listens("tm1", Integer.parseInt(address.substring(address.lastIndexOf(':') + 1)))
                ? "tm1"
                : "tm2";
    }
}
