package dev.stoker.storage;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SlowObjectStoreTest extends ObjectStoreContract {

    @TempDir
    private Path directory;

    @Override
    protected ObjectStore createStore() {
        return new SlowObjectStore(new LocalObjectStore(directory), Duration.ofNanos(1000), 1L << 40);
    }

    @Test
    void takesItsTimeAndCounts() throws IOException {
        LocalObjectStore local = new LocalObjectStore(directory);
        local.createIfAbsent("a", new byte[100_000]);
        SlowObjectStore slow = new SlowObjectStore(local, Duration.ofMillis(20), 1_000_000);
        long start = System.nanoTime();

        slow.read("a", 0, ByteBuffer.allocate(100_000));

        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(120));
        assertThat(slow.reads()).isEqualTo(1);
        assertThat(slow.bytesRead()).isEqualTo(100_000);
        assertThat(slow.lookups()).isZero();
        assertThat(slow.localPath("a")).isEmpty();
    }
}
