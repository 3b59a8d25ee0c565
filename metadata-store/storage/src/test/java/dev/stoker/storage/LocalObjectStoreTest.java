package dev.stoker.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.storage.errors.NoSpaceException;
import dev.stoker.storage.errors.UnknownOutcomeException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class LocalObjectStoreTest extends ObjectStoreContract {

    @TempDir
    private Path directory;

    @Override
    protected ObjectStore createStore() {
        return new LocalObjectStore(directory.resolve("not there yet/data set"));
    }

    /** Lets one step fail. */
    private static final class FailingFiles implements LocalFiles {
        private final NioFiles real = new NioFiles();
        IOException onForce;
        IOException onLink;
        IOException onForceDirectory;
        boolean linkTakesEffect;

        @Override
        public FileChannel createNew(Path file) throws IOException {
            return real.createNew(file);
        }

        @Override
        public void force(FileChannel channel, Path file) throws IOException {
            if (onForce != null) {
                throw onForce;
            }
            real.force(channel, file);
        }

        @Override
        public void link(Path existing, Path name) throws IOException {
            if (linkTakesEffect) {
                real.link(existing, name);
            }
            if (onLink != null) {
                throw onLink;
            }
            real.link(existing, name);
        }

        @Override
        public void replace(Path file, Path name) throws IOException {
            real.replace(file, name);
        }

        @Override
        public void delete(Path file) throws IOException {
            real.delete(file);
        }

        @Override
        public void createDirectory(Path created) throws IOException {
            real.createDirectory(created);
        }

        @Override
        public void forceDirectory(Path forced) throws IOException {
            if (onForceDirectory != null && forced.getFileName().toString().equals("log")) {
                throw onForceDirectory;
            }
            real.forceDirectory(forced);
        }
    }

    private final FailingFiles files = new FailingFiles();

    private LocalObjectStore failing() {
        return new LocalObjectStore(directory, files);
    }

    private List<String> left() throws IOException {
        try (Stream<Path> paths = Files.walk(directory)) {
            return paths.filter(Files::isRegularFile)
                    .map(path -> directory.relativize(path).toString())
                    .toList();
        }
    }

    @Test
    void localPathIsWhereTheFileLies() throws IOException {
        LocalObjectStore store = new LocalObjectStore(directory);
        store.createIfAbsent("a/b", new byte[] {1, 2});

        assertThat(store.localPath("a/b").orElseThrow())
                .isEqualTo(directory.resolve("a/b"))
                .hasBinaryContent(new byte[] {1, 2});
    }

    @Test
    void aFullDiskIsOneLineThatSaysWhatToDo() throws IOException {
        files.onForce = new IOException("No space left on device");

        assertThatThrownBy(() -> failing().createIfAbsent("log/1", new byte[10]))
                .isInstanceOf(NoSpaceException.class)
                .hasMessage("No space left to write " + directory.resolve("log/1")
                        + "; free some space (or raise the quota) and run the same command again");
        assertThat(left()).isEmpty();
    }

    @Test
    void aFailedForceLeavesNothing() throws IOException {
        files.onForce = new IOException("Input/output error");

        assertThatThrownBy(() -> failing().createIfAbsent("log/1", new byte[10]))
                .hasMessage("Cannot write " + directory.resolve("log/1") + ": Input/output error");
        assertThat(left()).isEmpty();
    }

    @Test
    void aFileSystemWithoutLinksIsNamed() throws IOException {
        files.onLink = new FileSystemException("a", "b", "Operation not permitted");

        assertThatThrownBy(() -> failing().createIfAbsent("log/1", new byte[10]))
                .hasMessageContaining("does not support hard links")
                .hasMessageContaining("another file system");
        assertThat(left()).isEmpty();
    }

    @Test
    void aFailedLinkIsAnUnknownOutcome() throws IOException {
        files.onLink = new IOException("Stale file handle");

        assertThatThrownBy(() -> failing().createIfAbsent("log/1", new byte[10]))
                .isInstanceOf(UnknownOutcomeException.class)
                .hasMessageContaining("log/1")
                .hasMessageContaining("Stale file handle");
        assertThat(left()).isEmpty();
    }

    @Test
    void aFailedForceOfTheDirectoryIsAnUnknownOutcome() {
        LocalObjectStore store = failing();
        files.onForceDirectory = new IOException("Input/output error");

        assertThatThrownBy(() -> store.createIfAbsent("log/1", new byte[10]))
                .isInstanceOf(UnknownOutcomeException.class);
    }

    @Test
    void aRepeatedLinkCallThatFindsItsOwnFileHasCreatedIt() throws IOException {
        files.linkTakesEffect = true;

        assertThat(failing().createIfAbsent("log/1", new byte[10])).isTrue();
        assertThat(left()).containsExactly("log/1");
    }

    @Test
    void temporaryFilesAreNoObjects() throws IOException {
        LocalObjectStore store = new LocalObjectStore(directory);
        ObjectWriter dead = store.write("chunks/ab/x");
        dead.write(ByteBuffer.wrap(new byte[100]));

        assertThat(store.list("").toList()).isEmpty();
        ObjectInfo unfinished = store.listUnfinished("").toList().get(0);
        assertThat(unfinished.name()).startsWith("chunks/ab/.tmp-").endsWith("-x");
        assertThat(unfinished.length()).isEqualTo(100);
        assertThatThrownBy(() -> store.createIfAbsent(unfinished.name(), new byte[0]))
                .isInstanceOf(IllegalArgumentException.class);
        dead.close();
    }

    @Test
    void survivesTheRemovalOfADirectory() throws IOException {
        LocalObjectStore store = new LocalObjectStore(directory.resolve("x"));
        store.createIfAbsent("a/b", new byte[0]);
        Files.delete(directory.resolve("x/a/b"));
        Files.delete(directory.resolve("x/a"));
        Files.delete(directory.resolve("x"));

        assertThat(store.createIfAbsent("a/b", new byte[1])).isTrue();
    }

    @Test
    void aFileInPlaceOfADirectoryIsNamed() throws IOException {
        Files.createFile(directory.resolve("a"));

        assertThatThrownBy(() -> new LocalObjectStore(directory).createIfAbsent("a/b", new byte[0]))
                .hasMessageContaining(directory.resolve("a").toString())
                .hasMessageContaining("not a directory");
    }

    @Test
    void whatWasCreatedSurvivesAPowerLoss() throws IOException {
        PowerLoss machine = new PowerLoss(directory);
        ObjectStore store = machine.store("deep/er/data");
        store.createIfAbsent("_stoker/log/1", new byte[] {1});
        try (ObjectWriter writer = store.write("chunks/ab/x")) {
            writer.write(ByteBuffer.wrap(new byte[] {2, 3}));
            writer.commit();
        }
        store.createIfAbsent("gone", new byte[] {4});
        store.delete("gone");
        ObjectWriter unfinished = store.write("chunks/ab/y");
        unfinished.write(ByteBuffer.wrap(new byte[] {5}));

        machine.strike();

        ObjectStore after = new LocalObjectStore(directory.resolve("deep/er/data"));
        assertThat(after.readAll("_stoker/log/1", 10)).containsExactly(1);
        assertThat(after.readAll("chunks/ab/x", 10)).containsExactly(2, 3);
        assertThat(after.list("").toList()).hasSize(2);
        unfinished.close();
    }

    @Test
    void aReplacedObjectHasItsOldOrItsNewContentAfterAPowerLoss() throws IOException {
        byte[] old = {1, 2};
        byte[] replacing = {3, 4, 5};
        boolean isLost = true;
        int step = 0;
        for (; isLost; step++) {
            Path root = Files.createDirectory(directory.resolve("machine-" + step));
            PowerLoss machine = new PowerLoss(root);
            ObjectStore store = machine.store("data");
            store.createIfAbsent("log/1", old);
            isLost = machine.during(machine.steps() + step, () -> store.replace("log/1", replacing));

            byte[] left = new LocalObjectStore(root.resolve("data")).readAll("log/1", 10);
            assertThat(left).isEqualTo(left.length == 2 && isLost ? old : replacing);
        }
        assertThat(step).isEqualTo(5);
    }

    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void doesNotWaitForAFifo() throws Exception {
        Path fifo = HostileNeighbour.fifo(directory.resolve("fifo"));

        assertThatThrownBy(() -> new LocalObjectStore(directory).read("fifo", 0, ByteBuffer.allocate(1)))
                .hasMessage(fifo + " is not a regular file; Stoker did not create it");
    }

    @Test
    void aDirectoryMadeByAnotherProcessIsForcedToo() throws IOException {
        // As if another process had died between creating the directories and forcing them.
        PowerLossFiles other = new PowerLossFiles();
        ObjectStore store = new LocalObjectStore(directory.resolve("data"), new LocalFiles() {
            @Override
            public FileChannel createNew(Path file) throws IOException {
                return other.createNew(file);
            }

            @Override
            public void force(FileChannel channel, Path file) throws IOException {
                other.force(channel, file);
            }

            @Override
            public void link(Path existing, Path name) throws IOException {
                other.link(existing, name);
            }

            @Override
            public void replace(Path file, Path name) throws IOException {
                other.replace(file, name);
            }

            @Override
            public void delete(Path file) throws IOException {
                other.delete(file);
            }

            @Override
            public void createDirectory(Path created) throws IOException {
                // Lost the race: the other process has created it.
                other.createDirectory(created);
                throw new FileAlreadyExistsException(created.toString());
            }

            @Override
            public void forceDirectory(Path forced) throws IOException {
                other.forceDirectory(forced);
            }
        });
        store.createIfAbsent("log/1", new byte[] {1});

        other.losePower(directory);

        assertThat(new LocalObjectStore(directory.resolve("data")).readAll("log/1", 10))
                .containsExactly(1);
    }
}
