package dev.stoker.feeder.node.chunks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.errors.CorruptDataException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MappingsTest {
    @TempDir
    Path directory;

    private Path file(int i) throws IOException {
        return Files.write(directory.resolve("f" + i), new byte[] {(byte) i, 1, 2, 3});
    }

    private static long mapped(Path directory) throws IOException {
        try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains(directory.toString())).count();
        }
    }

    @Test
    void unmapsWhatIsLongestUnusedAndKeepsWhatIsHeld() throws IOException {
        Mappings mappings = new Mappings(3);
        ChunkBytes first = mappings.hold(file(0), 4);
        for (int i = 1; i < 10; i++) {
            mappings.hold(file(i), 4).close();
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
        Mappings mappings = new Mappings(2);
        List<ChunkBytes> held = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            held.add(mappings.hold(file(i), 4));
        }
        assertThat(mappings.size()).isEqualTo(5);
        held.forEach(ChunkBytes::close);
        assertThat(mappings.size()).isEqualTo(2);
        mappings.close();
    }

    @Test
    void mapsAForgottenFileAnewWhileOldHoldsStay() throws IOException {
        Mappings mappings = new Mappings(2);
        Path file = file(1);
        ChunkBytes old = mappings.hold(file, 4);
        mappings.forget(file);
        Path other = Files.write(directory.resolve("new"), new byte[] {9, 1, 2, 3});
        Files.move(other, file, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
        ChunkBytes fresh = mappings.hold(file, 4);
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
        Mappings mappings = new Mappings(2);
        Path file = file(1);
        assertThatThrownBy(() -> mappings.hold(file, 5))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContainingAll(file.toString(), "expected 5", "found 4");
    }

    @Test
    void closingUnmapsWithTheLastHold() throws IOException {
        Mappings mappings = new Mappings(2);
        ChunkBytes held = mappings.hold(file(1), 4);
        mappings.close();
        assertThat(held.bytes().get(0)).isEqualTo((byte) 1);
        held.close();
        assertThat(mapped(directory)).isZero();
        assertThatThrownBy(() -> mappings.hold(file(2), 4)).hasMessageContaining("shut down");
        assertThat(mapped(directory)).isZero();
    }
}
