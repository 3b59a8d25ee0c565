package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.verify.Verification;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.testing.TestSeed;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import dev.stoker.storage.hadoop.HadoopSettings;
import dev.stoker.storage.hadoop.HdfsCluster;
import dev.stoker.storage.hadoop.S3Server;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Processes that commit to one dataset as fast as they can, and are killed and started again meanwhile: each commit
 * that a process has noted is in the log once, as the version that it noted. {@code -Dtest.commits=…} is their sum,
 * {@code -Dtest.processes=…} their number, and {@code -Dtest.kills=…} how many processes are killed.
 */
class ContestedCommitsSoak {
    private static final int COMMITS = Integer.getInteger("test.commits", 10_000);
    private static final int PROCESSES = Integer.getInteger("test.processes", 8);
    private static final int KILLS = Integer.getInteger("test.kills", 16);
    private static final int SPANS = 5;
    private static final long MOST_SECONDS = 4 * 3600;

    @TempDir
    static Path directory;

    private final Random random = new Random(TestSeed.value());
    private final Process[] running = new Process[PROCESSES];

    @BeforeAll
    static void start() throws IOException {
        HadoopSettings.use(S3Server.shared().settings());
    }

    @AfterAll
    static void clear() {
        HadoopSettings.clear();
    }

    @AfterEach
    void stop() {
        for (Process process : running) {
            if (process != null) {
                process.destroyForcibly();
            }
        }
    }

    @Test
    void noneIsLostInALocalDirectory() throws Exception {
        contend("local", directory.resolve("dataset").toString());
    }

    @Test
    void noneIsLostOnHdfs() throws Exception {
        contend("HDFS", HdfsCluster.shared().uri() + "/" + UUID.randomUUID());
    }

    @Test
    void noneIsLostOnS3() throws Exception {
        contend("S3", "s3a://" + S3Server.BUCKET + "/" + UUID.randomUUID());
    }

    private void contend(String store, String location) throws Exception {
        try (ObjectStore objects = Stores.open(location)) {
            Dataset.create(objects, SampleDatasets.info());
        }
        long began = System.nanoTime();
        for (int process = 0; process < PROCESSES; process++) {
            begin(store, process, location);
        }
        int killed = awaitEnd(store, location);
        double seconds = (System.nanoTime() - began) / 1e9;
        try (ObjectStore objects = Stores.open(location)) {
            List<Note> notes = notes(store);
            System.out.printf(
                    Locale.ROOT,
                    "%s: %d commits of %d processes in %.0f s, %d killed; commits a second in fifths: %s%n",
                    store,
                    notes.size(),
                    PROCESSES,
                    seconds,
                    killed,
                    rates(notes));
            judge(Dataset.open(objects), notes);
        }
    }

    private void begin(String store, int process, String location) throws IOException {
        running[process] = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-Xmx256m",
                        "-Djava.io.tmpdir=" + directory,
                        "-Dstoker.hadoop.conf=" + System.getProperty("stoker.hadoop.conf"),
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        NotedCommits.class.getName(),
                        "process" + process,
                        String.valueOf(COMMITS / PROCESSES),
                        file(store, process, "notes").toString(),
                        location))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(
                        file(store, process, "log").toFile()))
                .start();
    }

    private static Path file(String store, int process, String kind) {
        return directory.resolve(store + "-" + process + "." + kind);
    }

    /** Waits for all processes, and kills one each time that a certain part of the commits has been noted. */
    private int awaitEnd(String store, String location) throws Exception {
        int killed = 0;
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(MOST_SECONDS);
        for (int process = 0; process < PROCESSES; ) {
            assertThat(System.nanoTime()).as("time-out").isLessThan(deadline);
            if (running[process].waitFor(50, TimeUnit.MILLISECONDS)) {
                assertThat(running[process].exitValue()).as(() -> log(store)).isZero();
                process++;
            } else if (killed < KILLS && notes(store).size() > (killed + 1L) * COMMITS / (KILLS + 1)) {
                int victim = random.nextInt(PROCESSES);
                if (running[victim].isAlive()) {
                    running[victim].destroyForcibly().waitFor();
                    begin(store, victim, location);
                }
                killed++;
            }
        }
        return killed;
    }

    private static String log(String store) {
        StringBuilder text = new StringBuilder();
        for (int process = 0; process < PROCESSES; process++) {
            try {
                text.append(Files.readString(file(store, process, "log")));
            } catch (IOException e) {
                text.append(e);
            }
        }
        return text.toString();
    }

    private record Note(String ingest, long version, long atMs) {}

    private static List<Note> notes(String store) throws IOException {
        List<Note> notes = new ArrayList<>();
        for (int process = 0; process < PROCESSES; process++) {
            if (Files.exists(file(store, process, "notes"))) {
                for (String line : Files.readAllLines(file(store, process, "notes"))) {
                    String[] parts = line.split(" ");
                    if (parts.length == 3) {
                        notes.add(new Note(parts[0], Long.parseLong(parts[1]), Long.parseLong(parts[2])));
                    }
                }
            }
        }
        notes.sort(Comparator.comparing(Note::atMs));
        return notes;
    }

    private static List<Long> rates(List<Note> notes) {
        List<Long> rates = new ArrayList<>();
        for (int span = 0; span < SPANS; span++) {
            Note first = notes.get(span * (notes.size() - 1) / SPANS);
            Note last = notes.get((span + 1) * (notes.size() - 1) / SPANS);
            rates.add(notes.size() / SPANS * 1000L / Math.max(1, last.atMs() - first.atMs()));
        }
        return rates;
    }

    private static void judge(Dataset dataset, List<Note> notes) throws Exception {
        Map<String, Long> versions = new TreeMap<>();
        long newest = dataset.latestVersion();
        for (long version = 1; version <= newest; version++) {
            LogEntry entry = dataset.entry(version, newest);
            assertThat(versions.put(entry.ingest(), version))
                    .as("another version of " + entry.ingest())
                    .isNull();
            assertThat(entry.added()).hasSize(1);
        }
        Map<String, Long> noted = new TreeMap<>();
        notes.forEach(note -> noted.put(note.ingest(), note.version()));
        assertThat(noted).hasSize(COMMITS / PROCESSES * PROCESSES);
        assertThat(versions).isEqualTo(noted);
        Snapshot snapshot = dataset.snapshot();
        assertThat(snapshot.table().liveRows()).isEqualTo(noted.size());
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try {
            assertThat(new Verification(dataset, threads, 8, bytes -> {})
                            .run(snapshot)
                            .problems())
                    .isEmpty();
        } finally {
            threads.shutdown();
        }
    }
}
