package dev.stoker.server.chunks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.errors.CorruptDataException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HeldChunksTest {
    @TempDir
    Path directory;

    private Path file(int i) throws IOException {
        return Files.write(directory.resolve("f" + i), new byte[] {(byte) i, 1, 2, 3});
    }

    private static ChunkBytes map(HeldChunks chunks, Path file) throws IOException {
        return map(chunks, file, 4);
    }

    private static ChunkBytes map(HeldChunks chunks, Path file, int length) throws IOException {
        return chunks.map(file, length);
    }

    private static long mapped(Path directory) throws IOException {
        try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains(directory.toString())).count();
        }
    }

    @Test
    void unmapsWhatIsLongestUnusedAndKeepsWhatIsHeld() throws IOException {
        HeldChunks mappings = new HeldChunks(3);
        ChunkBytes first = map(mappings, file(0));
        for (int i = 1; i < 10; i++) {
            map(mappings, file(i)).close();
        }
        assertThat(mappings.size()).isEqualTo(3);
        assertThat(mapped(directory)).isEqualTo(3);
        assertThat(first.bytes().get(0)).isZero();
        first.close();
        mappings.close();
        assertThat(mapped(directory)).isZero();
    }

    @Test
    void exceedsTheLimitOnlyByWhatIsHeld() throws IOException {
        HeldChunks mappings = new HeldChunks(2);
        List<ChunkBytes> held = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            held.add(map(mappings, file(i)));
        }
        assertThat(mappings.size()).isEqualTo(5);
        held.forEach(ChunkBytes::close);
        assertThat(mappings.size()).isEqualTo(2);
        mappings.close();
    }

    @Test
    void mapsAForgottenFileAnewWhileOldHoldsStay() throws IOException {
        HeldChunks mappings = new HeldChunks(2);
        Path file = file(1);
        ChunkBytes old = map(mappings, file);
        mappings.forget(file);
        Path other = Files.write(directory.resolve("new"), new byte[] {9, 1, 2, 3});
        Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
        ChunkBytes fresh = map(mappings, file);
        assertThat(old.bytes().get(0)).isEqualTo((byte) 1);
        assertThat(fresh.bytes().get(0)).isEqualTo((byte) 9);
        old.close();
        fresh.close();
        assertThat(mappings.size()).isEqualTo(1);
        mappings.close();
        assertThat(mapped(directory)).isZero();
    }

    @Test
    void refusesAFileOfAnotherLength() throws IOException {
        HeldChunks mappings = new HeldChunks(2);
        Path file = file(1);
        assertThatThrownBy(() -> map(mappings, file, 5))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContainingAll(file.toString(), "expected 5", "found 4");
    }

    @Test
    void countsWhatTheCallerWeighs() throws IOException {
        HeldChunks chunks = new HeldChunks(100);
        for (int i = 0; i < 10; i++) {
            chunks.hold("chunk " + i, 30, () -> ByteBuffer.allocateDirect(30)).close();
            assertThat(chunks.used()).isLessThanOrEqualTo(100);
        }
        assertThat(chunks.size()).isEqualTo(3);
        chunks.hold("chunk 9", 30, () -> {
                    throw new AssertionError("it is in memory");
                })
                .close();
        chunks.close();
        assertThat(chunks.used()).isZero();
    }

    @Test
    void namesRemoteFileSystems() {
        assertThat(List.of("nfs4", "LUSTRE", "fuse.sshfs", "fuseblk", "cifs")).allMatch(ChunkSources::isRemote);
        assertThat(List.of("ext4", "xfs", "tmpfs", "overlay", "btrfs", "zfs")).noneMatch(ChunkSources::isRemote);
    }

    @Test
    void closingUnmapsWithTheLastHold() throws IOException {
        HeldChunks mappings = new HeldChunks(2);
        ChunkBytes held = map(mappings, file(1));
        mappings.close();
        assertThat(held.bytes().get(0)).isEqualTo((byte) 1);
        held.close();
        assertThat(mapped(directory)).isZero();
        assertThatThrownBy(() -> map(mappings, file(2))).hasMessageContaining("shutting down");
        assertThat(mapped(directory)).isZero();
    }
}
