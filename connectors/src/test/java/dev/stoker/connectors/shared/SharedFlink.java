package dev.stoker.connectors.shared;

import dev.stoker.storage.ServerThreads;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.runtime.client.JobStatusMessage;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.util.TestStreamEnvironment;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * The Flink cluster of a test JVM: one TaskManager with four slots. The first class that uses it starts it, and it
 * ends with the JVM. Test classes that stop TaskManagers, or need several, have their own {@code MiniClusterExtension}.
 */
public final class SharedFlink implements BeforeAllCallback, AfterAllCallback, ParameterResolver {

    private static final int SLOTS = 4;

    private static MiniCluster cluster;

    private final int parallelism;

    private SharedFlink(int parallelism) {
        this.parallelism = parallelism;
    }

    /**
     * An extension for one test class.
     *
     * @param parallelism the parallelism of jobs that do not set any, at most four
     */
    public static SharedFlink ofParallelism(int parallelism) {
        if (parallelism < 1 || parallelism > SLOTS) {
            throw new IllegalArgumentException("parallelism " + parallelism + " of " + SLOTS + " slots");
        }
        return new SharedFlink(parallelism);
    }

    /** Returns the cluster, which starts with the first call. */
    public static synchronized MiniCluster cluster() {
        if (cluster == null) {
            try {
                Path directory = Files.createTempDirectory(Path.of(System.getProperty("java.io.tmpdir")), "flink");
                Configuration settings = new Configuration();
                settings.set(CoreOptions.TMP_DIRS, directory.toString());
                MiniCluster starting = new MiniCluster(new MiniClusterConfiguration.Builder()
                        .setConfiguration(settings)
                        .setNumTaskManagers(1)
                        .setNumSlotsPerTaskManager(SLOTS)
                        .withRandomPorts()
                        .build());
                ServerThreads.starting(() -> {
                    starting.start();
                    // The cluster starts some of its threads with its first job.
                    StreamExecutionEnvironment first = new TestStreamEnvironment(starting, 1);
                    first.enableCheckpointing(1_000);
                    first.fromSequence(0, 0).sinkTo(new DiscardingSink<>());
                    return first.execute("first");
                });
                AtExit.run(() -> {
                    starting.closeAsync().join();
                    FileUtils.deleteDirectory(directory.toFile());
                });
                cluster = starting;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (Exception e) {
                throw new IllegalStateException("The shared cluster does not start", e);
            }
        }
        return cluster;
    }

    /** Cancels the jobs that still run, and returns their names. Starts no cluster. */
    static synchronized List<String> cancelJobs() throws Exception {
        List<String> running = new ArrayList<>();
        if (cluster != null) {
            for (JobStatusMessage job : cluster.listJobs().get()) {
                if (!job.getJobState().isGloballyTerminalState()) {
                    running.add(job.getJobName());
                    cluster.cancelJob(job.getJobId()).get();
                    cluster.requestJobResult(job.getJobId()).get();
                }
            }
        }
        return running;
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        TestStreamEnvironment.setAsContext(cluster(), parallelism);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        TestStreamEnvironment.unsetAsContext();
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.isAnnotated(InjectMiniCluster.class)
                && parameter.getParameter().getType() == MiniCluster.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return cluster();
    }
}
