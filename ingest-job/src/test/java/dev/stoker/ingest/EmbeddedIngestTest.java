package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.ingest.pack.plan.SampleAccess;
import dev.stoker.ingest.pack.plan.SampleFiles;
import dev.stoker.ingest.spec.IngestFailedException;
import dev.stoker.ingest.spec.IngestListener;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.metadata.lease.WriterProcess;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The job as the command line runs it: in the caller's process. */
@Timeout(120)
class EmbeddedIngestTest {

    private static final AtomicReference<CountDownLatch> HALF = new AtomicReference<>();

    @TempDir
    private Path directory;

    @Test
    void tellsHowFarItHasCome() throws Exception {
        Path source = directory.resolve("source");
        Path target = directory.resolve("target");
        Map<String, byte[]> files = Trees.images(source, 3, 30, 2000);
        IngestOptions options = Ingests.options(
                source,
                target,
                "--order",
                "listed",
                "--read-threads",
                "1",
                "--chunk-size",
                "16kb",
                "--parallelism",
                "2");
        HALF.set(new CountDownLatch(1));
        SampleFiles waiting = path -> {
            if (path.contains("/c2/")) {
                try {
                    HALF.get().await();
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
            }
            return SampleFiles.LOCAL.open(path);
        };
        List<String> started = new CopyOnWriteArrayList<>();
        List<IngestProgress> seen = new CopyOnWriteArrayList<>();
        IngestListener<IngestProgress> listener = new IngestListener<>() {
            @Override
            public void started(String ingestId, List<String> plan) {
                started.add(ingestId);
            }

            @Override
            public void progressed(IngestProgress progress) {
                seen.add(progress);
                if (progress.phase() == IngestProgress.Phase.PACKING && progress.samples() > 0) {
                    HALF.get().countDown();
                }
            }
        };

        IngestResult result = IngestJob.run(
                options, IngestJob.embedded(options), listener, new SampleAccess(waiting, DatasetStore.BY_LOCATION));

        assertThat(started).containsExactly(result.ingestId());
        assertThat(result.startUp()).isPositive().isLessThan(Duration.ofSeconds(100));
        assertThat(result.duration()).isPositive();
        assertThat(seen).anySatisfy(progress -> {
            assertThat(progress.phase()).isEqualTo(IngestProgress.Phase.PACKING);
            assertThat(progress.listedFiles()).isEqualTo(files.size());
            assertThat(progress.samples()).isPositive().isLessThan(files.size());
            assertThat(progress.bytesPerSecond()).isPositive();
            assertThat(progress.remaining()).isPresent();
        });
        assertThat(Packed.read(target).keys()).hasSize(files.size());
    }

    @Test
    void theLeaseNamesThisProcessSoThatItDoesNotOutliveIt() throws Exception {
        Path source = directory.resolve("source");
        Trees.file(source, "1.jpg", "x");
        Path target = directory.resolve("target");
        IngestOptions options = Ingests.options(source, target);
        List<String> processes = new ArrayList<>();
        IngestListener<IngestProgress> listener = new IngestListener<>() {
            @Override
            public void started(String ingestId, List<String> plan) {
                try (ObjectStore store = new LocalObjectStore(target)) {
                    new Leases(Dataset.open(store)).all().values().forEach(lease -> processes.add(lease.process()));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        };

        IngestJob.run(options, IngestJob.embedded(options), listener);

        assertThat(processes).containsExactly(WriterProcess.current());
    }

    @Test
    void failsWithOneLineThatNamesTheIngest() throws Exception {
        Path source = directory.resolve("source");
        Trees.file(source, "1.jpg", "x");
        IngestOptions options = Ingests.options(source, directory.resolve("target"));
        SampleFiles broken = path -> {
            throw new IOException("Input/output error");
        };
        AtomicReference<String> id = new AtomicReference<>();
        IngestListener<IngestProgress> listener = new IngestListener<>() {
            @Override
            public void started(String ingestId, List<String> plan) {
                id.set(ingestId);
            }
        };

        assertThatThrownBy(() -> IngestJob.run(
                        options,
                        IngestJob.embedded(options),
                        listener,
                        new SampleAccess(broken, DatasetStore.BY_LOCATION)))
                .isInstanceOf(IngestFailedException.class)
                .hasMessage(
                        "Cannot read " + source.resolve("1.jpg") + ": Input/output error; make it readable, or leave"
                                + " such files out with --on-error skip (nothing was committed; resume with"
                                + " --ingest-id "
                                + id.get() + ")");
    }
}
