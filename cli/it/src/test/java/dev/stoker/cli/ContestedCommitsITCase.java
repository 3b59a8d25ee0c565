package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import dev.stoker.storage.hadoop.HadoopSettings;
import dev.stoker.storage.hadoop.HdfsCluster;
import dev.stoker.storage.hadoop.S3Server;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Processes that commit to the same datasets, on a real HDFS and a real S3 server. */
@Timeout(300)
@Tag("full-stores")
class ContestedCommitsITCase {

    private static final int PROCESSES = 2;
    private static final int COMMITS = 8;

    @TempDir
    static Path directory;

    @BeforeAll
    static void start() throws IOException {
        HadoopSettings.use(S3Server.shared().settings());
    }

    @AfterAll
    static void clear() {
        HadoopSettings.clear();
    }

    @Test
    void letsSeveralProcessesCommitAtOnce() throws Exception {
        List<String> targets = List.of(
                "s3a://" + S3Server.BUCKET + "/" + UUID.randomUUID(),
                HdfsCluster.shared().uri() + "/" + UUID.randomUUID());
        for (String target : targets) {
            try (ObjectStore store = Stores.open(target)) {
                Dataset.create(store, SampleDatasets.info());
            }
        }
        List<Process> processes = new ArrayList<>();
        for (int i = 0; i < PROCESSES; i++) {
            processes.add(begin("process" + i, targets));
        }
        for (int i = 0; i < PROCESSES; i++) {
            assertThat(processes.get(i).waitFor(120, TimeUnit.SECONDS)).isTrue();
            assertThat(processes.get(i).exitValue())
                    .as(Files.readString(log("process" + i)))
                    .isZero();
        }
        for (String target : targets) {
            try (ObjectStore store = Stores.open(target)) {
                Dataset dataset = Dataset.open(store);
                List<String> ingests = new ArrayList<>();
                for (long version = 1; version <= dataset.latestVersion(); version++) {
                    ingests.add(dataset.entry(version).ingest());
                }
                assertThat(ingests).hasSize(PROCESSES * COMMITS).doesNotHaveDuplicates();
            }
        }
    }

    private static Process begin(String name, List<String> targets) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-Xmx256m",
                "-Djava.io.tmpdir=" + directory,
                "-Dstoker.hadoop.conf=" + System.getProperty("stoker.hadoop.conf"),
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                CommitContender.class.getName(),
                name,
                Integer.toString(COMMITS)));
        command.addAll(targets);
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log(name).toFile())
                .start();
    }

    private static Path log(String name) {
        return directory.resolve(name + ".log");
    }
}
