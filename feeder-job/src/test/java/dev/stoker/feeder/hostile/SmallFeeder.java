package dev.stoker.feeder.hostile;

import dev.stoker.feeder.ledger.LedgerEncoder;
import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.feeder.source.reader.LaneReader;
import dev.stoker.feeder.source.reader.SilentContext;
import dev.stoker.feeder.source.reader.StopSignal;
import dev.stoker.server.NodeLease;
import dev.stoker.server.TestDataset;
import dev.stoker.server.TestFeed;
import dev.stoker.server.feed.FeedSpec;
import dev.stoker.server.security.ServerSecurity;
import dev.stoker.server.security.TlsFiles;
import dev.stoker.transport.TestCertificate;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;

/**
 * A feeder in a separate process with a small heap. It serves the same dataset over plain TCP and over TLS, as two
 * feeds. The reader and the ledger encoder of the job read each feed, with ten checkpoints a second. If a reader fails,
 * the process ends, as the job ends after its restarts. With the option {@code -Dtest.epochs} the first feed has an
 * end.
 */
final class SmallFeeder implements AutoCloseable {
    private static final String ORDER = "{\"batch_size\":4,\"lanes\":2}";
    private static final int[] ROWS = {20, 20};
    private static final long DATA_SEED = 1;
    private static final int IMAGE_BYTES = 2000;

    /** The main class of the feeder's process. Its arguments are the directory and the instances of both feeds. */
    static final class Main {
        private Main() {}

        public static void main(String[] args) throws Exception {
            Path directory = Path.of(args[0]);
            List<TestFeed> feeds = feeds(directory, "served", UUID.fromString(args[1]), UUID.fromString(args[2]));
            List<Reading> readings = new ArrayList<>();
            for (TestFeed feed : feeds) {
                readings.add(new Reading(feed));
            }
            readings.forEach(Reading::start);
            System.out.println("addresses " + readings.get(0).address() + " "
                    + readings.get(1).address());
            // Wait until the process of the test has ended.
            while (System.in.read() >= 0) {}

            Runtime.getRuntime().halt(0);
        }
    }

    /** The job's reader of one feed, with its mailbox thread. */
    private static final class Reading extends Thread {
        private final NodeLease lease;
        private final LaneReader reader;
        private long checkpoint;

        Reading(TestFeed feed) throws IOException {
            super("reader");
            setDaemon(true);
            lease = feed.start();
            FeedPlan.Stream stream = new FeedPlan.Stream(
                    "train",
                    feed.dataset.path().toString(),
                    feed.dataset.id(),
                    feed.dataset.version(),
                    "train",
                    feed.order.lanes(),
                    false);
            FeedSpec spec = feed.spec();
            FeedPlan plan = new FeedPlan(
                    spec.name(),
                    spec.id(),
                    List.of(stream),
                    spec.order(),
                    List.of(),
                    0,
                    spec.onCorrupt(),
                    "none",
                    0,
                    new FeedPlan.Server("127.0.0.1", "0", null, null, 1, 0, null),
                    "off",
                    new FeedPlan.Work(1000, 0));
            reader = new LaneReader(
                    new SilentContext(),
                    () -> lease,
                    new LedgerEncoder(plan),
                    StopSignal.of(spec.id()),
                    () -> checkpoint);
        }

        String address() {
            return lease.address();
        }

        @Override
        public void run() {
            try {
                reader.start();
                SilentContext.Output output = new SilentContext.Output();
                while (true) {
                    long untilNanos = System.nanoTime() + 100_000_000L;
                    while (System.nanoTime() < untilNanos) {
                        reader.pollNext(output);
                        lease.acksAvailable()
                                .completeOnTimeout(
                                        null, Math.max(0, untilNanos - System.nanoTime()), TimeUnit.NANOSECONDS)
                                .copy()
                                .get();
                    }
                    reader.snapshotState(++checkpoint);
                    reader.notifyCheckpointComplete(checkpoint);
                }
            } catch (Throwable e) {
                e.printStackTrace();
                Runtime.getRuntime().halt(3);
            }
        }
    }

    private final Process process;
    private final Path said;
    private final List<TestFeed> feeds;
    private final TestCertificate certificate;
    private final String plainAddress;
    private final String tlsAddress;

    private SmallFeeder(
            Process process, Path said, List<TestFeed> feeds, TestCertificate certificate, String[] addresses) {
        this.process = process;
        this.said = said;
        this.feeds = feeds;
        this.certificate = certificate;
        this.plainAddress = addresses[1];
        this.tlsAddress = addresses[2];
    }

    /** Starts the feeder with options of the JVM such as {@code -Xmx64m}. */
    static SmallFeeder start(Path directory, String... options) throws Exception {
        return start(directory, 0, options);
    }

    /** Starts the feeder with a limit of file descriptors; 0 for the limit of this process. */
    static SmallFeeder start(Path directory, int files, String... options) throws Exception {
        TestCertificate certificate = TestCertificate.make(directory, "feeder");
        UUID plain = UUID.randomUUID();
        UUID tls = UUID.randomUUID();
        List<TestFeed> feeds = feeds(directory, "expected", plain, tls);
        Path said = directory.resolve("said");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-XX:CICompilerCount=1",
                "--add-opens=java.base/java.nio=ALL-UNNAMED",
                "--add-opens=java.base/java.util=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path")));
        command.addAll(1, List.of(options));
        if (files > 0) {
            command.add(1, "-XX:-MaxFDLimit");
            command.addAll(0, List.of("sh", "-c", "ulimit -n " + files + " && exec \"$@\"", "sh"));
        }
        command.addAll(List.of(Main.class.getName(), directory.toString(), plain.toString(), tls.toString()));
        Process process =
                new ProcessBuilder(command).redirectError(said.toFile()).start();
        // The pipe stays open, and only this line goes through it.
        BufferedReader out =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        String line = out.readLine();
        if (line == null) {
            throw new AssertionError("the feeder did not start: " + Files.readString(said));
        }
        return new SmallFeeder(process, said, feeds, certificate, line.split(" ", -1));
    }

    /** Returns both feeds over a dataset, which is the same wherever it is created. */
    private static List<TestFeed> feeds(Path directory, String copy, UUID plain, UUID tls) throws IOException {
        TestDataset dataset = TestDataset.create(directory.resolve(copy), DATA_SEED, IMAGE_BYTES, ROWS);
        TestFeed open = new TestFeed(dataset, ORDER);
        open.instance = plain;
        long epochs = Long.getLong("test.epochs", 0);
        open.epochs = epochs > 0 ? OptionalLong.of(epochs) : OptionalLong.empty();
        TestFeed secured = new TestFeed(dataset, ORDER);
        secured.instance = tls;
        secured.access = new ServerSecurity(
                Optional.empty(),
                Optional.of(new TlsFiles(
                        directory.resolve("feeder.pem"), directory.resolve("feeder.key"), Optional.empty())),
                false);
        return List.of(open, secured);
    }

    TestFeed plainFeed() {
        return feeds.get(0);
    }

    TestFeed tlsFeed() {
        return feeds.get(1);
    }

    String plainAddress() {
        return plainAddress;
    }

    String tlsAddress() {
        return tlsAddress;
    }

    SSLContext trusting() throws Exception {
        return certificate.trusting();
    }

    /** Fails with the output of the feeder's process, if the process has ended. */
    void requireAlive() throws IOException {
        if (!process.isAlive()) {
            throw new AssertionError("the feeder ended with " + process.exitValue() + ": " + said());
        }
    }

    String said() throws IOException {
        return Files.readString(said);
    }

    /** Returns how the process ended, or that it did not. */
    String ending() throws IOException, InterruptedException {
        return process.waitFor(2, TimeUnit.SECONDS)
                ? "the feeder ended with " + process.exitValue() + ": " + said()
                : "the feeder lives; it said: " + said();
    }

    /** Returns the resident memory of the process in bytes. */
    long residentBytes() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc", Long.toString(process.pid()), "status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) << 10;
            }
        }
        throw new AssertionError("no VmRSS");
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
