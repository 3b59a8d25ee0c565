package dev.stoker.ingest.topic;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.connectors.shared.SharedKafka;
import dev.stoker.flink.launch.JobLauncher;
import dev.stoker.flink.launch.RunningJob;
import dev.stoker.ingest.spec.IngestListener;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.metadata.lease.WriterProcess;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The leases of ingests of topics. */
@Timeout(240)
class TopicLeasesITCase {

    @RegisterExtension
    static final SharedKafka KAFKA = SharedKafka.withTopics("leases-");

    @TempDir
    private static Path directory;

    @Test
    void theLeaseNamesThisProcessSoThatItDoesNotOutliveIt() throws Exception {
        assertThat(processesOfLeases("leases-own", JobLauncher.Mode.EMBEDDED)).containsExactly(WriterProcess.current());
    }

    @Test
    void theLeaseOfAJobOnAClusterNamesNoProcess() throws Exception {
        assertThat(processesOfLeases("leases-elsewhere", JobLauncher.Mode.ATTACHED))
                .containsExactly("");
    }

    /** Ingests a topic as a job that runs in this process or elsewhere, and returns the processes of its leases. */
    private static List<String> processesOfLeases(String name, JobLauncher.Mode mode) throws Exception {
        Topic topic = Topic.create(name, 1);
        Path target = directory.resolve(name + "-data");
        topic.sendValues(0, "0", "1", "2");
        List<String> processes = new ArrayList<>();
        IngestListener<TopicIngestProgress> listener = new IngestListener<>() {
            @Override
            public void started(String run, List<String> plan) {
                try (ObjectStore store = new LocalObjectStore(target)) {
                    new Leases(Dataset.open(store)).all().values().forEach(lease -> processes.add(lease.process()));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        };
        TopicIngestOptions options = Streams.options(topic.uri(), target, "--value=raw", "--until=latest");
        try (JobLauncher job = new LauncherOfMode(Streams.job(), mode)) {
            TopicIngestJob.run(options, job, listener, () -> false);
        }
        return processes;
    }

    /** Delegates to another launcher, but reports a different mode. */
    private record LauncherOfMode(JobLauncher launcher, Mode mode) implements JobLauncher {

        @Override
        public StreamExecutionEnvironment environment() {
            return launcher.environment();
        }

        @Override
        public RunningJob launch(String name) throws Exception {
            return launcher.launch(name);
        }

        @Override
        public void close() throws IOException {
            launcher.close();
        }
    }
}
