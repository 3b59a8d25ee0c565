package dev.stoker.ingest.topic;

import dev.stoker.connectors.kafka.KafkaBroker;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A broker and a cluster of two slots, shared by all test classes that do not change them. Each test uses its own
 * topics.
 */
final class SharedKafka implements BeforeAllCallback {

    static final int SLOTS = 2;

    private static Processes processes;

    private record Processes(Path directory, KafkaBroker broker, MiniCluster cluster) implements AutoCloseable {

        static Processes start() {
            try {
                Path directory = Files.createTempDirectory(Path.of(System.getProperty("java.io.tmpdir")), "topics");
                Configuration conf = new Configuration();
                conf.set(CoreOptions.TMP_DIRS, directory.toString());
                MiniCluster cluster = new MiniCluster(new MiniClusterConfiguration.Builder()
                        .setConfiguration(conf)
                        .setNumTaskManagers(1)
                        .setNumSlotsPerTaskManager(SLOTS)
                        .withRandomPorts()
                        .build());
                cluster.start();
                return new Processes(directory, KafkaBroker.startSteady(directory.resolve("broker")), cluster);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (Exception e) {
                throw new IllegalStateException("the cluster does not start", e);
            }
        }

        @Override
        public void close() throws IOException {
            broker.close();
            cluster.closeAsync().join();
            FileUtils.deleteDirectory(directory.toFile());
        }
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        // It goes when the last class is through.
        processes = context.getRoot()
                .getStore(ExtensionContext.Namespace.create(SharedKafka.class))
                .getOrComputeIfAbsent(Processes.class, key -> Processes.start(), Processes.class);
    }

    static KafkaBroker broker() {
        return processes.broker();
    }

    static MiniCluster cluster() {
        return processes.cluster();
    }
}
