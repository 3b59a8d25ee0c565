package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.ingest.pack.SampleAccess;
import dev.stoker.ingest.pack.SampleFiles;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An ingest in a separate process, killed with kill -9 while it writes. */
@Timeout(180)
class KilledIngestTest {

    private static final String ID = "01234567-89ab-4cde-8f01-23456789abcd";
    private static final String STUCK = "stuck";

    @TempDir
    private Path directory;

    @Test
    void leavesNothingVisibleAndGoesOnUnderItsId() throws Exception {
        Path source = directory.resolve("source");
        Path target = directory.resolve("target");
        Map<String, byte[]> files = Trees.images(source, 5, 40, 3000);
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--add-opens=java.base/java.lang=ALL-UNNAMED",
                        "--add-opens=java.base/java.util=ALL-UNNAMED",
                        "--add-opens=java.base/java.nio=ALL-UNNAMED",
                        "-XX:TieredStopAtLevel=1",
                        "-Djava.io.tmpdir=" + directory,
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName(),
                        source.toString(),
                        target.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            String line = output.readLine();
            while (line != null && !line.equals(STUCK)) {
                line = output.readLine();
            }
            assertThat(line).isEqualTo(STUCK);
        } finally {
            process.destroyForcibly();
        }
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isEqualTo(137);

        assertThat(Packed.latestVersion(target)).isZero();
        try (Stream<Path> chunks = Files.walk(target.resolve("chunks"))) {
            assertThat(chunks.filter(path -> path.toString().endsWith(".arrow")))
                    .isNotEmpty();
        }
        IngestOptions options = Ingests.options(source, target, "--ingest-id", ID);
        IngestResult result = IngestJob.run(options, IngestJob.embedded(options), IngestListener.SILENT);

        assertThat(result.version()).isEqualTo(1);
        Map<String, byte[]> packed = Packed.read(target).bytes("image");
        assertThat(packed.keySet()).isEqualTo(files.keySet());
        packed.forEach((key, bytes) -> assertThat(bytes).as(key).isEqualTo(files.get(key)));
    }

    /** The process: packs most of the tree, then reports that it is stuck, and blocks. */
    static final class Main {

        private Main() {}

        public static void main(String[] args) throws Exception {
            IngestOptions options = Ingests.options(
                    Path.of(args[0]),
                    Path.of(args[1]),
                    "--ingest-id",
                    ID,
                    "--order",
                    "listed",
                    "--chunk-size",
                    "32kb",
                    "--read-threads",
                    "1");
            SampleFiles files = path -> {
                if (path.contains("/c4/")) {
                    System.out.println(STUCK);
                    try {
                        new CountDownLatch(1).await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                }
                return SampleFiles.LOCAL.open(path);
            };
            IngestJob.run(
                    options,
                    IngestJob.embedded(options),
                    IngestListener.SILENT,
                    new SampleAccess(files, DatasetStore.BY_LOCATION));
        }
    }
}
