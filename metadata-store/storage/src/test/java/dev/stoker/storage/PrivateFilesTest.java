package dev.stoker.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A thread that opens a FIFO cannot be interrupted, so each test has a separate thread. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PrivateFilesTest {

    private static final String LOCK = "lock";

    @TempDir
    private Path place;

    private Path outside;
    private Path precious;

    @BeforeEach
    void plant() throws IOException {
        outside = Files.createDirectory(place.resolve("outside"));
        precious = Files.writeString(outside.resolve("precious"), "keep");
    }

    private void sweep() throws IOException {
        PrivateFiles.removeLeft(place, name -> name.startsWith("left"), LOCK, Duration.ofMinutes(1));
    }

    /** As a process leaves it that was killed. */
    private Path left(String name) throws IOException {
        Path left = PrivateFiles.createDirectory(place.resolve(name));
        Files.createFile(left.resolve(LOCK));
        Files.writeString(Files.createDirectories(left.resolve("a/b")).resolve("c"), "c");
        return left;
    }

    @Test
    void removesWhatAProcessLeft() throws IOException {
        Path left = left("left-1");
        Path old = PrivateFiles.createDirectory(place.resolve("left-2"));
        Files.setLastModifiedTime(old, FileTime.from(Instant.now().minus(Duration.ofHours(1))));
        Path young = PrivateFiles.createDirectory(place.resolve("left-3"));
        Path other = left("other-4");

        sweep();

        assertThat(left).doesNotExist();
        assertThat(old).doesNotExist();
        assertThat(young).exists();
        assertThat(other.resolve("a/b/c")).exists();
    }

    @Test
    void leavesDirectoriesOfOtherUsersAlone() throws IOException {
        Path left = HostileNeighbour.foreign(left("left-1"));

        sweep();

        assertThat(left.resolve("a/b/c")).exists();
    }

    @Test
    void leavesAloneWhatOthersMayWriteTo() throws IOException {
        Path left = left("left-1");
        Files.setPosixFilePermissions(left, PosixFilePermissions.fromString("rwxrwxrwx"));

        sweep();

        assertThat(left.resolve("a/b/c")).exists();
    }

    @Test
    void removesLinksAndNotWhatTheyPointTo() throws IOException {
        Path left = left("left-1");
        Files.createSymbolicLink(left.resolve("directory"), outside);
        Files.createSymbolicLink(left.resolve("a/file"), precious);

        sweep();

        assertThat(left).doesNotExist();
        assertThat(precious).hasContent("keep");
    }

    @Test
    void doesNotFollowALinkInPlaceOfADirectoryOrOfItsLock() throws IOException {
        Files.createFile(outside.resolve(LOCK));
        Files.createSymbolicLink(place.resolve("left-1"), outside);
        Path left = PrivateFiles.createDirectory(place.resolve("left-2"));
        Files.createSymbolicLink(left.resolve(LOCK), precious);

        sweep();

        assertThat(outside.resolve(LOCK)).exists();
        assertThat(precious).hasContent("keep");
        assertThat(left).exists();
    }

    @Test
    void doesNotWaitForAFifoInPlaceOfALock() throws Exception {
        Path left = PrivateFiles.createDirectory(place.resolve("left-1"));
        HostileNeighbour.fifo(left.resolve(LOCK));
        HostileNeighbour.fifo(place.resolve("left-2"));

        sweep();

        assertThat(left).exists();
    }

    /** Another process swaps a directory for a link, again and again, while it is being removed. */
    @Test
    void neverLeavesTheDirectoryThatItRemoves() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        Path tree = PrivateFiles.createDirectory(place.resolve("tree"));
        Path link = Files.createSymbolicLink(place.resolve("link"), outside);
        Thread swapper = new Thread(() -> {
            for (int i = 0; !over.get(); i++) {
                try {
                    Path below = Files.createDirectories(tree.resolve("below"));
                    Files.move(below, place.resolve("aside" + i), StandardCopyOption.ATOMIC_MOVE);
                    Files.createSymbolicLink(below, outside);
                    Files.deleteIfExists(below);
                    Files.deleteIfExists(place.resolve("aside" + i));
                } catch (IOException e) {
                    // The other thread was quicker.
                }
            }
        });
        swapper.start();
        try {
            for (int i = 0; i < 2000; i++) {
                try {
                    PrivateFiles.delete(tree);
                } catch (IOException e) {
                    // What came in meanwhile stays.
                }
            }
        } finally {
            over.set(true);
            swapper.join();
        }
        assertThat(precious).hasContent("keep");
        assertThat(link).isSymbolicLink();
    }

    @Test
    void aDirectoryInUseStays() throws IOException {
        // A second look by the process itself would release its lock, so only the name protects it here.
        PrivateFiles.Claimed claimed = PrivateFiles.claimDirectory(place, "mine-", LOCK);

        sweep();

        assertThat(claimed.path()).isDirectory();
        assertThat(HostileNeighbour.mode(claimed.path())).isEqualTo("rwx------");
        assertThat(HostileNeighbour.mode(claimed.path().resolve(LOCK))).isEqualTo("rw-------");
        claimed.lock().close();
    }

    @Test
    void locksOnlyRegularFiles() throws Exception {
        Path fifo = HostileNeighbour.fifo(place.resolve("fifo"));
        Path link = Files.createSymbolicLink(place.resolve("link"), place.resolve("new"));

        assertThatThrownBy(() -> PrivateFiles.openLock(fifo))
                .isInstanceOf(FileSystemException.class)
                .hasMessageContaining(fifo + ": is a FIFO or a device instead of a lock file; move it out of the way");
        assertThatThrownBy(() -> PrivateFiles.openLock(link)).hasMessageContaining("is a symbolic link");
        assertThatThrownBy(() -> PrivateFiles.openLock(outside)).hasMessageContaining("is a directory");
        assertThatThrownBy(() -> PrivateFiles.openExistingLock(fifo)).hasMessageContaining("is a FIFO");
        assertThatThrownBy(() -> PrivateFiles.openExistingLock(place.resolve("absent")))
                .isInstanceOf(NoSuchFileException.class);
        assertThat(place.resolve("new")).doesNotExist();
        try (FileChannel lock = PrivateFiles.openLock(place.resolve("lock"))) {
            assertThat(lock.tryLock()).isNotNull();
        }
        assertThat(HostileNeighbour.mode(place.resolve("lock"))).isEqualTo("rw-------");
    }

    @Test
    void makesDirectoriesAndFilesForItsUserAlone() throws IOException {
        Path file = place.resolve("home/feeds/photos.json");

        PrivateFiles.replace(file, new byte[] {1});
        PrivateFiles.replace(file, new byte[] {2});

        assertThat(file).hasBinaryContent(new byte[] {2});
        assertThat(HostileNeighbour.open(place.resolve("home"))).isEmpty();
        assertThat(file.getParent()).isDirectoryNotContaining(path -> !path.equals(file));
        assertThatThrownBy(() -> PrivateFiles.createDirectories(precious.resolve("below")))
                .hasMessageContaining(precious + ": is not a directory; move it out of the way");
    }

    @Test
    void replacesALinkAndNotWhatItPointsTo() throws IOException {
        Path file = Files.createSymbolicLink(place.resolve("photos.json"), precious);

        PrivateFiles.replace(file, new byte[] {1});

        assertThat(file).isRegularFile().hasBinaryContent(new byte[] {1});
        assertThat(precious).hasContent("keep");
    }
}
