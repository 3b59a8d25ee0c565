package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Contents;
import dev.stoker.metadata.Dataset;
import dev.stoker.schemas.testing.TestSeed;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import dev.stoker.storage.hadoop.Fault;
import dev.stoker.storage.hadoop.FaultProxy;
import dev.stoker.storage.hadoop.HadoopSettings;
import dev.stoker.storage.hadoop.S3Server;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Whole ingests into a real S3 server that fails, and of two at once. */
@Timeout(300)
@Tag("full-stores")
class RemoteIngestITCase {

    @TempDir
    static Path directory;

    private static FaultProxy proxy;
    private static String s3;

    @BeforeAll
    static void start() throws IOException {
        proxy = FaultProxy.start(S3Server.shared().endpoint(), TestSeed.value());
        Map<String, String> settings = new TreeMap<>(S3Server.settings(proxy.endpoint()));
        settings.put("fs.s3a.retry.interval", "5ms");
        settings.put("fs.s3a.retry.throttle.interval", "5ms");
        settings.put("fs.s3a.connection.timeout", "200s");
        settings.put("fs.s3a.connection.request.timeout", "200s");
        HadoopSettings.use(settings);
        s3 = "s3a://" + S3Server.BUCKET + "/" + UUID.randomUUID();
    }

    @AfterAll
    static void clear() throws IOException {
        HadoopSettings.clear();
        proxy.close();
    }

    /** Creates files of one class each, below a directory of that name; returns their {@link Contents}. */
    private static Map<String, String> files(Path root, String label, int count) throws IOException {
        Random random = new Random(label.hashCode());
        Map<String, String> expected = new TreeMap<>();
        Files.createDirectories(root.resolve(label));
        for (int i = 0; i < count; i++) {
            byte[] bytes = new byte[1 + random.nextInt(4000)];
            random.nextBytes(bytes);
            String key = label + "/" + i + ".jpg";
            Files.write(root.resolve(key), bytes);
            expected.put(
                    key, "train label=" + label + " image=" + HexFormat.of().formatHex(bytes));
        }
        return expected;
    }

    private static void ingest(String source, String target, String... options) {
        StringWriter said = new StringWriter();
        List<String> args = new ArrayList<>(List.of("ingest", source, target, "--label-from", "parent-dir"));
        args.addAll(List.of(options));
        PrintWriter out = new PrintWriter(said, true);
        assertThat(Stoker.run(args, out, out)).as(said::toString).isZero();
    }

    private static String id(int number) {
        return "00000000-0000-4000-8000-00000000000" + number;
    }

    private static List<String> ingests(String location) throws IOException {
        try (ObjectStore store = Stores.open(location)) {
            Dataset dataset = Dataset.open(store);
            List<String> ingests = new ArrayList<>();
            for (long version = 1; version <= dataset.latestVersion(); version++) {
                ingests.add(dataset.entry(version).ingest());
            }
            return ingests;
        }
    }

    @Test
    void anyParallelismAndAnyFailuresGiveOneVersionOfTheSameSamples() throws IOException {
        Path files = directory.resolve("files");
        Map<String, String> expected = files(files, "ant", 50);
        expected.putAll(files(files, "bee", 30));
        try (ObjectStore store = Stores.open(s3 + "/raw")) {
            for (String key : expected.keySet()) {
                store.createIfAbsent(key, Files.readAllBytes(files.resolve(key)));
            }
        }
        String[] packing = {"--chunk-size", "8kb", "--payload", "image", "--ingest-id", id(1)};
        ingest(s3 + "/raw", s3 + "/alone", with(packing, 1));
        proxy.resetCounts();
        ingest(s3 + "/raw", s3 + "/shared", with(packing, 3));
        long requests = proxy.requests();

        proxy.resetCounts();
        proxy.atRate(0.07, request -> true, Fault.slowDown())
                .atRate(0.07, request -> true, new Fault.Status(429, "TooManyRequests"))
                .atRate(0.06, request -> true, new Fault.LostReply());
        ingest(s3 + "/raw", s3 + "/failing", with(packing, 3));
        long withFailures = proxy.requests();
        proxy.heal();
        assertThat(withFailures)
                .as("requests where a fifth fail; without, %d", requests)
                .isGreaterThan(requests)
                .isLessThanOrEqualTo(requests * 3 / 2);
        for (String target : List.of("/alone", "/shared", "/failing")) {
            assertThat(Contents.of(s3 + target)).as(target).isEqualTo(expected);
            assertThat(ingests(s3 + target)).as(target).containsExactly(id(1));
        }
    }

    private static String[] with(String[] options, int parallelism) {
        List<String> all = new ArrayList<>(List.of(options));
        all.add("--parallelism");
        all.add(String.valueOf(parallelism));
        return all.toArray(String[]::new);
    }

    @Test
    void ofTwoIngestsThatCommitAtOnceBothAreKept() throws Exception {
        Map<String, String> expected = files(directory.resolve("first"), "cat", 5);
        expected.putAll(files(directory.resolve("held"), "cow", 20));
        expected.putAll(files(directory.resolve("quick"), "asp", 20));
        String target = s3 + "/contested";
        ingest(directory.resolve("first").toString(), target, "--ingest-id", id(1));

        CountDownLatch quickIsDone = new CountDownLatch(1);
        proxy.resetCounts();
        proxy.next(1, RemoteIngestITCase::commitsVersion2, new Fault.Held(quickIsDone));
        CompletableFuture<Void> held = CompletableFuture.runAsync(
                () -> ingest(directory.resolve("held").toString(), target, "--append", "--ingest-id", id(2)));
        try {
            Waiting.until(() -> held.isDone() || proxy.log().stream().anyMatch(RemoteIngestITCase::commitsVersion2));
            ingest(directory.resolve("quick").toString(), target, "--append", "--ingest-id", id(3));
        } finally {
            quickIsDone.countDown();
            proxy.heal();
        }
        held.get(100, TimeUnit.SECONDS);

        assertThat(proxy.log().stream().filter(RemoteIngestITCase::commitsVersion2))
                .as("both wanted to be version 2")
                .hasSizeGreaterThanOrEqualTo(2);
        assertThat(ingests(target)).containsExactly(id(1), id(3), id(2));
        assertThat(Contents.of(target)).isEqualTo(expected);
        try (ObjectStore store = Stores.open(target)) {
            assertThat(Dataset.open(store).snapshot().classes().names("label")).containsExactly("cat", "asp", "cow");
        }
    }

    private static boolean commitsVersion2(FaultProxy.Request request) {
        return request.isCreate() && request.target().endsWith("/_stoker/log/00000000000000000002.avro");
    }
}
