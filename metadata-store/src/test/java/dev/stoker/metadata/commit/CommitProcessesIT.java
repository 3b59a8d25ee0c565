package dev.stoker.metadata.commit;

import static dev.stoker.metadata.SampleDatasets.info;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.gc.Orphan;
import dev.stoker.metadata.gc.Orphans;
import dev.stoker.metadata.verify.Verification;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectRangeReader;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Real processes commit to one directory, and are killed. */
@Timeout(180)
class CommitProcessesIT {

    @TempDir
    private Path directory;

    private final List<Process> processes = new ArrayList<>();

    @AfterEach
    void stop() {
        processes.forEach(Process::destroyForcibly);
    }

    private Process start(String... args) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                CommitProcess.class.getName()));
        command.addAll(List.of(args));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        processes.add(process);
        return process;
    }

    private static BufferedReader output(Process process) {
        return new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    private Dataset open() throws IOException {
        return Dataset.open(new LocalObjectStore(directory));
    }

    @Test
    void contestedCommitsAllTakePlaceOnce() throws Exception {
        Dataset.create(new LocalObjectStore(directory), info());
        int contenders = 4;
        int commits = 20;
        List<Process> running = new ArrayList<>();
        for (int c = 0; c < contenders; c++) {
            running.add(start("contend", directory.toString(), "p" + c, String.valueOf(commits)));
        }
        for (Process process : running) {
            assertThat(output(process).readLine()).isEqualTo("ready");
        }
        for (Process process : running) {
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
        }
        for (Process process : running) {
            assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
        }

        Dataset dataset = open();
        Snapshot snapshot = dataset.snapshot();
        assertThat(snapshot.version()).isEqualTo((long) contenders * commits);
        assertThat(snapshot.table().size()).isEqualTo(contenders * commits);
        assertThat(snapshot.table().lastOrdinal()).isEqualTo(contenders * commits - 1);
        Set<String> ingests = new HashSet<>();
        for (long version = 1; version <= snapshot.version(); version++) {
            LogEntry entry = dataset.entry(version);
            assertThat(ingests.add(entry.ingest())).isTrue();
            assertThat(dataset.log().copy(entry.ingest())).isEqualTo(entry);
        }
        assertThat(snapshot.classes().names("label")).hasSize(contenders * 3).doesNotHaveDuplicates();
        labelsNameTheirDirectories(dataset, snapshot);
        assertThat(new Verification(dataset, Runnable::run, 1, bytes -> {})
                        .run(snapshot)
                        .problems())
                .isEmpty();
        assertThat(Orphans.find(dataset, InstantSource.system())).isEmpty();
    }

    private static void labelsNameTheirDirectories(Dataset dataset, Snapshot snapshot) throws IOException {
        for (int i = 0; i < snapshot.table().size(); i++) {
            ChunkHead head = ChunkReader.readHead(
                    new ObjectRangeReader(
                            dataset.store(), ChunkNames.path(snapshot.table().id(i))),
                    snapshot.table().summary(i));
            String name = head.classes(0).get(head.column(0).intAt(0));
            int id = snapshot.classes().id("label", name).orElseThrow();
            assertThat(head.key(0)).startsWith(snapshot.classes().names("label").get(id) + "/");
        }
    }

    @Test
    @Tag("full-stores")
    void aProcessKilledAtAnyStepLeavesNothingOrOneVersion() throws Exception {
        Dataset.create(new LocalObjectStore(directory), info());
        boolean killed = true;
        long version = 0;
        int steps = 0;
        for (; killed; steps++) {
            String ingest = "ingest-" + steps;
            Process process = start("step", directory.toString(), ingest, String.valueOf(steps));
            killed = "waiting".equals(output(process).readLine());
            if (killed) {
                // SIGKILL: nothing of the process runs any more.
                process.destroyForcibly();
            }
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();

            long newest = open().latestVersion();
            assertThat(newest).as("step " + steps).isBetween(killed ? version : version + 1, version + 1);
            boolean committed = newest > version;
            version = newest;
            assertThat(new VersionCommitter(open(), InstantSource.system(), "test")
                            .find(ingest)
                            .isPresent())
                    .as("step " + steps)
                    .isEqualTo(committed);
            assertThat(new Verification(open(), Runnable::run, 1, bytes -> {})
                            .run(open().latest())
                            .problems())
                    .as("step " + steps)
                    .isEmpty();
        }
        assertThat(steps).isGreaterThan(12);
        assertThat(version).isGreaterThan(2);
        List<Orphan> orphans = Orphans.find(open(), InstantSource.system());
        assertThat(orphans).anyMatch(Orphan::unfinished).anyMatch(orphan -> !orphan.unfinished());
        Orphans.delete(open(), orphans);
        assertThat(new Verification(open(), Runnable::run, 1, bytes -> {})
                        .run(open().snapshot())
                        .problems())
                .isEmpty();
    }
}
