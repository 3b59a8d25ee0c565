package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.ingest.pack.plan.SampleAccess;
import dev.stoker.ingest.pack.plan.SampleFiles;
import dev.stoker.ingest.pack.sync.SyncChanges;
import dev.stoker.ingest.spec.IngestListener;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A sync in a separate process, killed with kill -9 while it packs. */
@Timeout(180)
@Tag("full-stores")
class KilledSyncTest {

    @TempDir
    private Path directory;

    @Test
    void leavesTheOldVersionAndSucceedsTheNextTime() throws Exception {
        Path source = directory.resolve("source");
        Path target = directory.resolve("target");
        Map<String, byte[]> old = Trees.images(source, "a", 1, 40, 2000);
        IngestOptions ingest = Ingests.options(source, target, "--chunk-size", "16kb", "--parallelism", "1");
        IngestJob.run(ingest, IngestJob.embedded(ingest), IngestListener.silent());
        // Every file gets another size.
        Map<String, byte[]> changed = Trees.images(source, "a", 1, 40, 2000);
        for (Map.Entry<String, byte[]> file : changed.entrySet()) {
            file.setValue(new byte[file.getValue().length + 1]);
            Files.write(source.resolve(file.getKey()), file.getValue());
        }
        Files.delete(source.resolve("a0/deep/7.jpg"));
        changed.remove("a0/deep/7.jpg");

        StuckProcess.runAndKill(Main.class, directory, source.toString(), target.toString());

        Packed.assertHasImages(target, old);
        assertThat(Packed.latestVersion(target)).isEqualTo(1);
        assertThat(Packed.leases(target)).hasSize(1);

        SyncOptions options = Main.options(source.toString(), target.toString());
        SyncResult result = SyncJob.run(options, SyncJob.embedded(options), IngestListener.silent());

        Packed.assertHasImages(target, changed);
        assertThat(result.ingest().version()).isEqualTo(2);
        assertThat(result.changes().count(SyncChanges.Kind.CHANGED)).isEqualTo(39);
        assertThat(Packed.leases(target)).isEqualTo(Set.of(Main.ID));
    }

    /** The process: packs half of the files, then reports that it is stuck, and blocks. */
    static final class Main {

        static final String ID = "01234567-89ab-4cde-8f01-23456789abcd";

        private static int opened;

        private Main() {}

        static SyncOptions options(String source, String target, String... more) {
            String[] args = {source, target, "--delete", "--parallelism", "1", "--read-threads", "1"};
            return SyncOptions.parse(Stream.of(args, more).flatMap(Stream::of).toArray(String[]::new));
        }

        public static void main(String[] args) throws Exception {
            SyncOptions options = options(args[0], args[1], "--ingest-id", ID);
            SampleFiles files = path -> {
                opened++;
                if (opened == 20) {
                    StuckProcess.block();
                }
                return SampleFiles.LOCAL.open(path);
            };
            SyncJob.run(
                    options,
                    SyncJob.embedded(options),
                    IngestListener.silent(),
                    new SampleAccess(files, DatasetStore.BY_LOCATION));
        }
    }
}
