package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.stoker.cli.feed.EmbeddedFeed;
import dev.stoker.client.Batch;
import dev.stoker.client.FeedClient;
import dev.stoker.feeder.plan.FeedOptions;
import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.metadata.Contents;
import dev.stoker.metadata.Dataset;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import dev.stoker.storage.cloud.Emulator;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Datasets and samples in the emulators of clouds. */
@Timeout(300)
@Tag("full-stores")
class CloudStoresITCase {

    private static final int SAMPLES = 40;

    @TempDir
    static Path directory;

    /** One location for each cloud. */
    private static List<String> clouds;

    private static Map<String, String> variables;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @BeforeAll
    static void start() throws IOException {
        String path = UUID.randomUUID().toString();
        clouds = new ArrayList<>(List.of("gs://" + Emulator.BUCKET + "/" + path));
        variables = new TreeMap<>(Emulator.google().environment());
        if ("1".equals(System.getenv("STOKER_AZURITE"))) {
            clouds.add("abfss://" + Emulator.BUCKET + "@devstoreaccount1.dfs.core.windows.net/" + path);
            variables.putAll(Emulator.azure().environment());
        }
        variables.forEach((name, value) -> System.setProperty("stoker." + name, value));
        Random random = new Random(5);
        for (int i = 0; i < SAMPLES; i++) {
            byte[] bytes = new byte[1 + random.nextInt(1500)];
            random.nextBytes(bytes);
            Path file = directory.resolve("raw/c" + i % 3 + "/" + i + ".jpg");
            Files.createDirectories(file.getParent());
            Files.write(file, bytes);
            for (String cloud : clouds) {
                try (ObjectStore store = Stores.open(cloud + "/raw")) {
                    store.createIfAbsent("c" + i % 3 + "/" + i + ".jpg", bytes);
                }
            }
        }
        new CloudStoresITCase().ingest(directory.resolve("raw").toString(), local());
    }

    @AfterAll
    static void clear() {
        variables.keySet().forEach(name -> System.clearProperty("stoker." + name));
    }

    private static String local() {
        return directory.resolve("packed").toString();
    }

    private void stoker(String... args) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        assertThat(Stoker.run(List.of(args), new PrintWriter(out, true), new PrintWriter(err, true)))
                .as(() -> String.join(" ", args) + "\n" + out + "\n" + err)
                .isZero();
    }

    private void ingest(String source, String target) {
        stoker("ingest", source, target, "--chunk-size", "8kb", "--payload", "image", "--label-from", "parent-dir");
    }

    @Test
    void packsChangesAndChecksADataset() throws IOException {
        Map<String, String> expected = Contents.of(local());
        for (String cloud : clouds) {
            String dataset = cloud + "/packed";
            ingest(cloud + "/raw", dataset);
            assertThat(Contents.of(dataset)).isEqualTo(expected).hasSize(SAMPLES);

            stoker("tag", dataset, "first", "1");
            stoker("delete", dataset, "c0/0.jpg", "--yes");
            assertThat(Contents.of(dataset)).hasSize(SAMPLES - 1).doesNotContainKey("c0/0.jpg");
            stoker("ls", dataset + "@first", "c0/");
            assertThat(out.toString()).contains("c0/0.jpg");
            stoker("compact", dataset, "--chunk-size", "32kb");
            stoker("gc", dataset, "--older-than", "0");
            stoker("verify", dataset);
            String scheme = cloud.substring(0, cloud.indexOf(':'));
            stoker("copy", dataset, directory.resolve("copied-" + scheme).toString());
        }
    }

    @Test
    void feedsTheBatchesOfALocalCopy() throws Exception {
        Map<Long, List<String>> expected = consume(local());
        assertThat(expected).hasSize(6);
        for (String cloud : clouds) {
            Contents.copy(local(), cloud + "/fed");
            assertThat(consume(cloud + "/fed")).isEqualTo(expected);
        }
    }

    /** Returns every batch of an epoch by its number, as a feed delivers it. */
    private static Map<Long, List<String>> consume(String location) throws Exception {
        FeedPlan plan = FeedPlan.of(FeedOptions.parse(new String[] {
            location,
            "--name=cloud-fed",
            "--port=0",
            "--batch-size=7",
            "--seed=9",
            "--shuffle-window=20 kb",
            "--checkpoint-interval=200 ms",
            "--ui=off"
        }));
        Map<Long, List<String>> batches = new TreeMap<>();
        try (EmbeddedFeed feed = EmbeddedFeed.start(plan)) {
            String address = feed.awaitReady(Duration.ofMinutes(2));
            try (FeedClient client = FeedClient.of(address)
                    .rank(0, 1)
                    .ranks(r -> r.run(1))
                    .epochs(1)
                    .open()) {
                for (Batch batch : client.epoch()) {
                    List<String> messages = new ArrayList<>();
                    for (ByteBuffer message : batch.messages()) {
                        byte[] bytes = new byte[message.remaining()];
                        message.duplicate().get(bytes);
                        messages.add(HexFormat.of().formatHex(bytes));
                    }
                    batches.put(batch.number(), messages);
                    batch.close();
                }
            }
        }
        return batches;
    }

    @Test
    void letsSeveralProcessesCommitAtOnce() throws Exception {
        DatasetInfo info = new DatasetInfo(
                UUID.randomUUID(),
                "contested",
                Instant.ofEpochMilli(0),
                List.of(Field.payload("image", FieldType.parse("binary"))),
                Map.of());
        List<String> targets =
                clouds.stream().map(cloud -> cloud + "/contested").toList();
        for (String target : targets) {
            try (ObjectStore store = Stores.open(target)) {
                Dataset.create(store, info);
            }
        }
        List<Process> processes = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            List<String> command = new ArrayList<>(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-XX:TieredStopAtLevel=1",
                    "-Xmx256m",
                    "-Djava.io.tmpdir=" + directory,
                    "-cp",
                    System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                    CommitContender.class.getName(),
                    "process" + i,
                    "8"));
            command.addAll(targets);
            ProcessBuilder builder = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(new File(directory.toFile(), "process" + i + ".log"));
            builder.environment().putAll(variables);
            processes.add(builder.start());
        }
        for (int i = 0; i < 2; i++) {
            assertThat(processes.get(i).waitFor(120, TimeUnit.SECONDS)).isTrue();
            assertThat(processes.get(i).exitValue())
                    .as(Files.readString(directory.resolve("process" + i + ".log")))
                    .isZero();
        }
        for (String target : targets) {
            try (ObjectStore store = Stores.open(target)) {
                Dataset dataset = Dataset.open(store);
                List<String> ingests = new ArrayList<>();
                for (long version = 1; version <= dataset.latestVersion(); version++) {
                    ingests.add(dataset.entry(version).ingest());
                }
                assertThat(ingests).hasSize(16).doesNotHaveDuplicates();
            }
        }
    }

    /** The command loads the clients from its own directory, and explains what is wrong. */
    @Test
    void theCommandReadsAndExplainsItsFailures() throws Exception {
        for (String cloud : clouds) {
            Contents.copy(local(), cloud + "/shown");
            try (StokerProcess info = StokerProcess.start(directory, variables, "info", cloud + "/shown")) {
                assertThat(info.code()).as(info.output()).isZero();
                assertThat(info.output()).contains(cloud + "/shown", "samples  " + SAMPLES);
            }
            String absent = cloud.replace(Emulator.BUCKET, "no-such-bucket");
            try (StokerProcess info = StokerProcess.start(directory, variables, "info", absent)) {
                assertThat(info.code()).isOne();
                assertThat(info.output()).contains(absent, "no-such-bucket; check its name, or create it with `");
            }
        }
        Map<String, String> noKey = Map.of(
                "GOOGLE_APPLICATION_CREDENTIALS",
                directory.resolve("no-key.json").toString());
        try (StokerProcess info = StokerProcess.start(directory, noKey, "info", "gs://photos/packed")) {
            assertThat(info.code()).isOne();
            assertThat(info.output())
                    .contains("Not allowed to", "gs://photos/packed", "credentials of Google", "no-key.json");
        }
    }

    /** Without native libraries and desktop logins, which the distribution does not have. */
    @Test
    void theCommandAsksForTheIdentityOfTheMachine() throws Exception {
        List<String> asked = new CopyOnWriteArrayList<>();
        HttpServer identities = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        identities.createContext("/", exchange -> {
            asked.add(exchange.getRequestHeaders().getFirst("X-IDENTITY-HEADER") + " " + exchange.getRequestURI());
            long until = Instant.now().getEpochSecond() + 3600;
            byte[] token = ("{\"access_token\":\"t\",\"token_type\":\"Bearer\",\"expires_on\":\"" + until + "\"}")
                    .getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, token.length);
            try (OutputStream body = exchange.getResponseBody()) {
                body.write(token);
            }
        });
        identities.start();
        Map<String, String> machine = Map.of(
                "IDENTITY_ENDPOINT",
                "http://127.0.0.1:" + identities.getAddress().getPort() + "/token",
                "IDENTITY_HEADER",
                "secret");
        String location = "abfss://photos@nosuchaccount.dfs.stoker.invalid/packed";
        try (StokerProcess info = StokerProcess.start(directory, machine, "info", location)) {
            assertThat(info.code()).isOne();
            assertThat(info.output()).contains(location, "unknown host nosuchaccount.blob.stoker.invalid");
            assertThat(asked)
                    .hasSize(1)
                    .first()
                    .asString()
                    .startsWith("secret ")
                    .contains("storage.azure.com");
        } finally {
            identities.stop(0);
        }
    }
}
