package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.ingest.pack.plan.SampleAccess;
import dev.stoker.ingest.pack.plan.SampleFiles;
import dev.stoker.ingest.spec.IngestListener;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An ingest in a separate process, killed with kill -9 while it writes. */
@Timeout(180)
class KilledIngestTest {

    private static final String ID = "01234567-89ab-4cde-8f01-23456789abcd";

    @TempDir
    private Path directory;

    @Test
    void leavesNothingVisibleAndGoesOnUnderItsId() throws Exception {
        Path source = directory.resolve("source");
        Path target = directory.resolve("target");
        Map<String, byte[]> files = Trees.images(source, 5, 40, 3000);
        StuckProcess.runAndKill(Main.class, directory, source.toString(), target.toString());

        assertThat(Packed.latestVersion(target)).isZero();
        try (Stream<Path> chunks = Files.walk(target.resolve("chunks"))) {
            assertThat(chunks.filter(path -> path.toString().endsWith(".arrow")))
                    .isNotEmpty();
        }
        IngestOptions options = Ingests.options(source, target, "--ingest-id", ID);
        IngestResult result = IngestJob.run(options, IngestJob.embedded(options), IngestListener.silent());

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
                    StuckProcess.block();
                }
                return SampleFiles.LOCAL.open(path);
            };
            IngestJob.run(
                    options,
                    IngestJob.embedded(options),
                    IngestListener.silent(),
                    new SampleAccess(files, DatasetStore.BY_LOCATION));
        }
    }
}
