package dev.stoker.server.chunks;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.nio.file.ExtendedOpenOption;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class LoadTimeTest {
    @TempDir
    Path directory;

    @AfterEach
    void forget() {
        LoadTime.forget();
    }

    @Test
    void nestedWaitsCountOnce() {
        long began = System.nanoTime();
        LoadTime.begin();
        LoadTime.begin();
        busy();
        LoadTime.end();
        busy();
        LoadTime.end();
        long lasted = System.nanoTime() - began;
        assertThat(LoadTime.take()).isBetween(4_000_000L, lasted);
        assertThat(LoadTime.take()).isZero();
    }

    @Test
    void whatAnotherThreadReadFromADiskIsTheDisks() {
        LoadTime.begin();
        busy();
        LoadTime.byOthers();
        LoadTime.end();
        assertThat(LoadTime.takeDisk()).isEqualTo(LoadTime.take()).isPositive();
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void whatLiesInMemoryIsNotTheDisks() throws IOException {
        Path file = Files.write(directory.resolve("warm"), new byte[1 << 20]);
        Files.readAllBytes(file);
        LoadTime.begin();
        Files.readAllBytes(file);
        LoadTime.end();
        assertThat(LoadTime.take()).isPositive();
        assertThat(LoadTime.takeDisk()).isZero();
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void whatTheKernelReadFromADiskIsTheDisks() throws IOException {
        Path file = Files.write(directory.resolve("cold"), new byte[1 << 20]);
        if (!Set.of("ext4", "xfs").contains(Files.getFileStore(file).type())) {
            // A file system in memory, or on top of another file system, has no separate disk.
            return;
        }
        try (FileChannel synced = FileChannel.open(file, StandardOpenOption.WRITE)) {
            synced.force(true);
        }
        ByteBuffer block =
                ByteBuffer.allocateDirect(2 << 20).alignedSlice(1 << 16).limit(1 << 20);
        try (FileChannel direct = FileChannel.open(file, StandardOpenOption.READ, ExtendedOpenOption.DIRECT)) {
            LoadTime.begin();
            direct.read(block, 0);
            LoadTime.end();
        }
        assertThat(LoadTime.takeDisk()).isEqualTo(LoadTime.take()).isPositive();
    }

    private static void busy() {
        long end = System.nanoTime() + 2_000_000;
        while (System.nanoTime() < end) {
            Thread.onSpinWait();
        }
    }
}
