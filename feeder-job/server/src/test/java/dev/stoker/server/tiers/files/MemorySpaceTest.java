package dev.stoker.server.tiers.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(100)
class MemorySpaceTest {
    /** Replaces the tmpfs, so that the test does not affect feeders on this machine. */
    @TempDir
    Path tmpfs;

    /** A feeder with a chunk, that ends as it is told. */
    static final class Holder {
        private Holder() {}

        public static void main(String[] args) throws IOException {
            keep(MemorySpace.claim(Path.of(args[0])));
            System.out.println("kept");
            if (System.in.read() == 'h') {
                Runtime.getRuntime().halt(0);
            }
            System.exit(0);
        }
    }

    private static Path keep(MemorySpace space) throws IOException {
        Path file = space.path(UUID.randomUUID());
        new CacheFiles.Nio(CacheAccess.USER).publish(file, ByteBuffer.allocate(100));
        return file;
    }

    private List<Path> spaces() throws IOException {
        try (var found = Files.list(tmpfs)) {
            return found.toList();
        }
    }

    private Process feeder() throws IOException {
        Process feeder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx64m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Holder.class.getName(),
                        tmpfs.toString())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        BufferedReader out = feeder.inputReader();
        assertThat(out.readLine()).isEqualTo("kept");
        return feeder;
    }

    private static void end(Process feeder, char how) throws Exception {
        feeder.getOutputStream().write(how);
        feeder.getOutputStream().flush();
        assertThat(feeder.waitFor(60, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void isForItsUserAloneAndGoesWithItsClaim() throws IOException {
        MemorySpace space = MemorySpace.claim(tmpfs);
        Path file = keep(space);
        Path own = tmpfs.relativize(file).getName(0);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(tmpfs.resolve(own))))
                .isEqualTo("rwx------");
        assertThat(space.list()).hasSize(1).containsValue(100L);
        space.close();
        assertThat(spaces()).isEmpty();
        assertThatThrownBy(() -> new CacheFiles.Nio(CacheAccess.USER).publish(file, ByteBuffer.allocate(100)))
                .as("a file that is still being written does not recreate the directory")
                .isInstanceOf(NoSuchFileException.class);
        assertThat(spaces()).isEmpty();
    }

    @Test
    void whatAKilledProcessLeavesIsRemovedByTheNextAndNothingElse() throws Exception {
        Path foreign = Files.createDirectories(tmpfs.resolve("stoker-else/aa"));
        Path file = Files.writeString(tmpfs.resolve("stoker-tier-notes.txt"), "mine");
        try (MemorySpace ours = MemorySpace.claim(tmpfs)) {
            Path kept = keep(ours);
            Process dead = feeder();
            Process alive = feeder();
            try {
                assertThat(spaces()).hasSize(5);
                end(dead, 'h');
                assertThat(spaces()).as("no process has removed it yet").hasSize(5);
                MemorySpace.removeLeft(tmpfs);
                assertThat(spaces()).hasSize(4).contains(foreign.getParent(), file);
                assertThat(kept).exists();
                end(alive, 'e');
                assertThat(spaces()).as("one that ends in order leaves nothing").hasSize(3);
            } finally {
                dead.destroyForcibly();
                alive.destroyForcibly();
            }
        }
        assertThat(spaces()).containsExactlyInAnyOrder(foreign.getParent(), file);
    }

    @Test
    void whatIsHalfMadeOrHalfRemovedGoes() throws IOException {
        Files.createDirectory(tmpfs.resolve("stoker-tier-" + UUID.randomUUID()));
        Path full = Files.createDirectory(tmpfs.resolve("stoker-tier-" + UUID.randomUUID()));
        Files.write(full.resolve(UUID.randomUUID() + "-1.ref"), new byte[0]);
        Files.write(Files.createDirectory(full.resolve("aa")).resolve("x.arrow"), new byte[10]);
        MemorySpace.removeLeft(tmpfs);
        assertThat(spaces()).isEmpty();
    }

    @Test
    void saysWhyThereIsNoRoom() {
        assertThatThrownBy(() -> MemorySpace.room(tmpfs.resolve("absent"))).hasMessageContaining("there is no ");
        assertThatThrownBy(() -> MemorySpace.room(Path.of("/proc"))).hasMessageContaining("is not a tmpfs but proc");
    }

    @Test
    void aPartOfATmpfsIsLeftToOthers() throws IOException {
        var store = Files.getFileStore(MemorySpace.TMPFS);
        assertThat(MemorySpace.room(MemorySpace.TMPFS)).isBetween(0L, store.getTotalSpace() * 7 / 8);
    }
}
