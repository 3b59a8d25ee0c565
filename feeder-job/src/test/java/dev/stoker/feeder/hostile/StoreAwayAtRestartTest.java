package dev.stoker.feeder.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.feeder.source.reader.LaneReader;
import dev.stoker.feeder.source.reader.ReaderContext;
import dev.stoker.feeder.source.reader.StopSignal;
import dev.stoker.server.TestDataset;
import dev.stoker.server.TestFeed;
import dev.stoker.storage.errors.StoreUnavailableException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A task that Flink restarts while the dataset's store is unavailable. */
class StoreAwayAtRestartTest {
    @TempDir
    Path directory;

    private static LaneReader reader(LaneReader.NodeOpener opener) {
        return new LaneReader(
                new ReaderContext(), opener, item -> new byte[0], StopSignal.of(UUID.randomUUID()), () -> 0);
    }

    /** A failed start would count as a restart, and eleven of them end the job. */
    @Test
    void theTaskWaitsForTheStore() throws Exception {
        TestFeed feed = new TestFeed(
                TestDataset.create(directory.resolve("data"), 1, 50, 40), "{\"batch_size\":8,\"lanes\":1}");
        AtomicInteger attempts = new AtomicInteger();
        LaneReader reader = reader(() -> {
            if (attempts.incrementAndGet() < 3) {
                throw new StoreUnavailableException("503", null);
            }
            return feed.start();
        });
        reader.start();
        reader.close();
        assertThat(attempts).hasValue(3);
    }

    @Test
    void aCancelEndsTheWait() {
        LaneReader reader = reader(() -> {
            // Flink interrupts the thread of a task that it cancels.
            Thread.currentThread().interrupt();
            throw new StoreUnavailableException("503", null);
        });
        assertThatThrownBy(reader::start).isInstanceOf(UncheckedIOException.class);
        assertThat(Thread.interrupted()).isTrue();
        reader.close();
    }

    @Test
    void otherFailuresAreNotWaitedFor() {
        LaneReader reader = reader(() -> {
            throw new IOException("a disk error");
        });
        assertThatThrownBy(reader::start).hasMessageContaining("a disk error");
        reader.close();
    }
}
