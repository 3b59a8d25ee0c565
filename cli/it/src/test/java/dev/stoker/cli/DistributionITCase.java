package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The contents of the distribution. */
class DistributionITCase {

    private static final String OF_HADOOP = "org/apache/hadoop/fs/FileSystem.class";
    private static final Path DISTRIBUTION = Path.of("..", "target", "dist");

    /** The jars of a directory that contain a class. */
    private static List<String> having(String entry, Path directory) {
        File[] jars = directory.toFile().listFiles((parent, name) -> name.endsWith(".jar"));
        assertThat(jars).isNotEmpty();
        return Stream.of(jars)
                .filter(file -> {
                    try (JarFile jar = new JarFile(file)) {
                        return jar.getEntry(entry) != null;
                    } catch (IOException e) {
                        throw new IllegalStateException(file.toString(), e);
                    }
                })
                .map(File::getName)
                .toList();
    }

    @Test
    void hadoopLiesBesideTheClassPathAndInNoJobJar() {
        assertThat(having(OF_HADOOP, DISTRIBUTION.resolve("lib"))).isEmpty();
        assertThat(having(OF_HADOOP, DISTRIBUTION.resolve("jobs"))).isEmpty();
        assertThat(having(OF_HADOOP, DISTRIBUTION.resolve("lib/hadoop")))
                .singleElement()
                .asString()
                .startsWith("hadoop-client-api");
        assertThat(having("org/apache/hadoop/fs/s3a/S3AFileSystem.class", DISTRIBUTION.resolve("lib/hadoop")))
                .hasSize(1);
    }

    @Test
    void theClientsOfCloudsAreBesideTheClassPathAndSlim() throws IOException {
        for (String type : List.of(
                "com/google/api/services/storage/Storage.class",
                "com/azure/storage/blob/BlobContainerClient.class",
                "com/azure/identity/DefaultAzureCredential.class",
                "reactor/core/publisher/Mono.class")) {
            assertThat(having(type, DISTRIBUTION.resolve("lib"))).isEmpty();
            assertThat(having(type, DISTRIBUTION.resolve("jobs"))).isEmpty();
            assertThat(having(type, DISTRIBUTION.resolve("lib/hadoop"))).isEmpty();
            assertThat(having(type, DISTRIBUTION.resolve("lib/cloud"))).hasSize(1);
        }
        try (Stream<Path> jars = Files.list(DISTRIBUTION.resolve("lib/cloud"))) {
            assertThat(jars.mapToLong(jar -> jar.toFile().length()).sum()).isLessThan(16 << 20);
        }
    }

    /** If these are on the class path, anyone who reaches Flink's REST endpoint can run code. */
    @Test
    void webSubmissionLiesBesideTheClassPathAndInNoJobJar() {
        String submission = "org/apache/flink/runtime/webmonitor/WebSubmissionExtension.class";
        assertThat(having(submission, DISTRIBUTION.resolve("lib"))).isEmpty();
        assertThat(having(submission, DISTRIBUTION.resolve("jobs"))).isEmpty();
        assertThat(having(submission, DISTRIBUTION.resolve("lib/hadoop"))).isEmpty();
        assertThat(having(submission, DISTRIBUTION.resolve("lib/web")))
                .singleElement()
                .asString()
                .startsWith("flink-runtime-web");
    }
}
