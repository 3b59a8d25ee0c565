package dev.stoker.server.tiers.files;

import static dev.stoker.server.tiers.TierDirectory.feed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.storage.HostileNeighbour;
import dev.stoker.storage.PrivateFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Other users of the machine, and what disk tiers keep. A thread that opens a FIFO cannot be interrupted. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TierAccessTest {

    private static final Duration HOUR = Duration.ofHours(1);

    @TempDir
    private Path place;

    private Path directory;

    @BeforeEach
    void share() throws IOException {
        // As /tmp: everyone may make entries, and change only their own.
        directory = Files.createDirectory(place.resolve("tiers"));
        Files.setAttribute(directory, "unix:mode", 01777);
    }

    private static Path put(CacheSpace space, CacheAccess access) throws IOException {
        Path file = space.path(UUID.randomUUID());
        new CacheFiles.Nio(access).publish(file, ByteBuffer.allocate(10));
        return file;
    }

    @Test
    void chunksAreForTheFeedersUserAlone() throws IOException {
        try (CacheSpace space = CacheSpace.claim(directory, CacheSpace.NODE, HOUR, CacheAccess.USER)) {
            put(space, CacheAccess.USER);

            assertThat(HostileNeighbour.open(directory)).containsExactly(directory);
        }
        Path made = place.resolve("new/tiers");
        try (CacheSpace space = CacheSpace.claim(made, feed(), HOUR, CacheAccess.USER)) {
            put(space, CacheAccess.USER);

            assertThat(HostileNeighbour.open(place.resolve("new"))).isEmpty();
        }
    }

    @Test
    void theGroupMayShareChunksIfThatIsWanted() throws IOException {
        Path shared = place.resolve("shared");
        try (CacheSpace space = CacheSpace.claim(shared, CacheSpace.NODE, HOUR, CacheAccess.GROUP)) {
            Path file = put(space, CacheAccess.GROUP);

            assertThat(HostileNeighbour.mode(shared)).isEqualTo("rwxrwx---");
            assertThat(HostileNeighbour.mode(file.getParent())).isEqualTo("rwxrwx---");
            assertThat(HostileNeighbour.mode(file)).isEqualTo("rw-rw----");
            assertThat(HostileNeighbour.open(shared))
                    .allMatch(path ->
                            PosixFilePermissions.toString(permissions(path)).endsWith("rw----")
                                    || Files.isDirectory(path));
        }
    }

    private static Set<PosixFilePermission> permissions(Path path) {
        try {
            return Files.getPosixFilePermissions(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aSpaceThatWasOpenToOthersIsClosed() throws IOException {
        Path space = Files.createDirectory(directory.resolve(CacheSpace.NODE));
        Files.setPosixFilePermissions(space, PosixFilePermissions.fromString("rwxr-xr-x"));

        CacheSpace.claim(directory, CacheSpace.NODE, HOUR, CacheAccess.USER).close();

        assertThat(HostileNeighbour.mode(space)).isEqualTo("rwx------");
    }

    @Test
    void chunksDoNotGoIntoASpaceThatIsALinkOrAnotherUsers() throws IOException {
        Path outside = Files.createDirectory(place.resolve("outside"));
        String linked = feed();
        Files.createSymbolicLink(directory.resolve(linked), outside);

        assertThatThrownBy(() -> CacheSpace.claim(directory, linked, HOUR, CacheAccess.USER))
                .hasMessageContaining(directory.resolve(linked)
                        + ": belongs to another user; choose another directory, or share it with your group with"
                        + " --cache-access group");
        assertThatThrownBy(() -> CacheSpace.claim(directory, linked, HOUR, CacheAccess.GROUP))
                .hasMessageContaining("belongs to another user; choose another directory");
        assertThat(outside).isEmptyDirectory();
        if (Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0)) {
            Path foreign = HostileNeighbour.foreign(Files.createDirectory(directory.resolve(CacheSpace.NODE)));
            assertThatThrownBy(() -> CacheSpace.claim(directory, CacheSpace.NODE, HOUR, CacheAccess.USER))
                    .hasMessageContaining("belongs to another user");
            assertThat(foreign).isEmptyDirectory();
        }
    }

    @Test
    void fifosAndLinksInPlaceOfLocksAreRefused() throws Exception {
        Path lock = HostileNeighbour.fifo(directory.resolve("cache.lock"));
        assertThatThrownBy(() -> CacheSpace.claim(directory, CacheSpace.NODE, HOUR, CacheAccess.USER))
                .hasMessageContaining(lock + ": is a FIFO or a device instead of a lock file");
        Files.delete(lock);
        Path outside = place.resolve("outside");
        Files.createSymbolicLink(lock, outside);
        assertThatThrownBy(() -> CacheSpace.claim(directory, CacheSpace.NODE, HOUR, CacheAccess.USER))
                .hasMessageContaining("is a symbolic link");
        assertThat(outside).doesNotExist();
    }

    @Test
    void spacesOfOtherUsersAreNeitherListedNorRemoved() throws Exception {
        Path outside = Files.createDirectory(place.resolve("outside"));
        Files.createFile(outside.resolve("loads.lock"));
        Path precious = Files.createFile(outside.resolve("precious"));
        Files.createSymbolicLink(directory.resolve(feed()), outside);
        Path foreign = PrivateFiles.createDirectory(directory.resolve(feed()));
        Files.createFile(foreign.resolve("loads.lock"));
        HostileNeighbour.fifo(foreign.resolve("1.ref"));
        HostileNeighbour.foreign(foreign);
        Files.createSymbolicLink(foreign.resolve("aa"), outside);

        assertThat(new CacheDirectory(directory).spaces()).isEmpty();
        CacheSpace.claim(directory, feed(), Duration.ZERO, CacheAccess.USER).close();

        assertThat(precious).exists();
        assertThat(foreign).exists();
    }

    @Test
    void aMemoryTierLeavesWhatOthersPlanted() throws Exception {
        Path foreign = PrivateFiles.createDirectory(directory.resolve("stoker-tier-" + UUID.randomUUID()));
        HostileNeighbour.fifo(foreign.resolve("1.ref"));
        Path own = PrivateFiles.createDirectory(directory.resolve("stoker-tier-" + UUID.randomUUID()));
        Path outside = Files.createDirectory(place.resolve("outside"));
        Path precious = Files.createFile(outside.resolve("precious"));
        Files.createFile(own.resolve("2.ref"));
        Files.createSymbolicLink(own.resolve("aa"), outside);
        Files.createSymbolicLink(directory.resolve("stoker-tier-link"), outside);

        MemorySpace.removeLeft(directory);

        assertThat(own).doesNotExist();
        assertThat(foreign).exists();
        assertThat(precious).exists();
        try (MemorySpace space = MemorySpace.claim(directory)) {
            new CacheFiles.Nio(CacheAccess.GROUP).publish(space.path(UUID.randomUUID()), ByteBuffer.allocate(1));
            assertThat(HostileNeighbour.mode(Path.of(space.toString()))).isEqualTo("rwx------");
        }
    }
}
