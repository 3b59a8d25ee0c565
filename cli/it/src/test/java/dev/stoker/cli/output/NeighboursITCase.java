package dev.stoker.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.cli.StokerProcess;
import dev.stoker.server.TestDataset;
import dev.stoker.storage.HostileNeighbour;
import dev.stoker.storage.PrivateFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Other users of the machine, who create links, FIFOs and directories wherever everyone may write. The commands run
 * with a umask that gives others all rights.
 */
@Timeout(400)
class NeighboursITCase {

    /** Short, since the path of a Unix-domain socket has 108 characters. */
    private Path directory;

    private Path temporary;
    private Path runtime;
    private Path home;
    private Path outside;
    private TestDataset dataset;

    @BeforeEach
    void create() throws IOException {
        directory = Files.createTempDirectory(Path.of("/tmp"), "neighbours");
        temporary = shared("tmp");
        runtime = shared("run");
        home = directory.resolve("home");
        outside = Files.createDirectory(directory.resolve("outside"));
        Files.writeString(outside.resolve("precious"), "keep");
        Files.createFile(outside.resolve("lock"));
        Files.createFile(outside.resolve("loads.lock"));
        dataset = TestDataset.create(directory.resolve("data"), 3, 100, 9, 8, 7, 11);
    }

    @AfterEach
    void remove() throws IOException {
        PrivateFiles.delete(directory);
    }

    /** As /tmp: everyone may make entries, and change only their own. */
    private Path shared(String name) throws IOException {
        Path made = Files.createDirectory(directory.resolve(name));
        Files.setAttribute(made, "unix:mode", 01777);
        return made;
    }

    /** Traps with names that Stoker cleans up: not the files that Stoker expects. */
    private static Set<Path> plant(Path place, Path outside, String prefix, String suffix) throws Exception {
        Path foreign = PrivateFiles.createDirectory(place.resolve(prefix + 1 + suffix));
        Files.createFile(foreign.resolve("lock"));
        Files.createSymbolicLink(foreign.resolve("a"), outside);
        HostileNeighbour.foreign(foreign);
        Path waiting = PrivateFiles.createDirectory(place.resolve(prefix + 2 + suffix));
        HostileNeighbour.fifo(waiting.resolve("lock"));
        Files.createSymbolicLink(place.resolve(prefix + 3 + suffix), outside);
        HostileNeighbour.fifo(place.resolve(prefix + 4 + suffix));
        Path open = Files.createDirectory(place.resolve(prefix + 5 + suffix));
        Files.createSymbolicLink(open.resolve("lock"), outside.resolve("precious"));
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
        Set<Path> planted = entries(place);
        for (Path path : planted) {
            if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
                Files.setLastModifiedTime(path, FileTime.from(Instant.now().minus(Duration.ofHours(1))));
            }
        }
        return planted;
    }

    private static Set<Path> entries(Path place) throws IOException {
        try (Stream<Path> found = Files.list(place)) {
            return found.collect(Collectors.toCollection(TreeSet::new));
        }
    }

    private Map<String, String> variables() {
        Map<String, String> variables = new HashMap<>();
        variables.put("STOKER_HOME", home.toString());
        variables.put("XDG_RUNTIME_DIR", runtime.toString());
        return variables;
    }

    private StokerProcess stoker(String... args) throws IOException {
        return StokerProcess.startCareless(directory, temporary, variables(), args);
    }

    private StokerProcess feed(String... options) throws IOException {
        return stoker(Stream.concat(
                        Stream.of("feed", dataset.path().toString(), "--name=photos", "--port=0", "--ui=0"),
                        Stream.of(options))
                .toArray(String[]::new));
    }

    private void nothingIsTouchedOutside() throws IOException {
        assertThat(outside.resolve("precious")).hasContent("keep");
        assertThat(entries(outside)).hasSize(3);
    }

    @Test
    void plantedFilesNeitherStopAFeedNorLeadItOut() throws Exception {
        Set<Path> inTemporary = plant(temporary, outside, ScratchDirectory.PREFIX, "");
        Set<Path> inRuntime = plant(runtime, outside, "stoker-1-0-", "");
        try (StokerProcess feed = feed().await("ready at")) {
            Set<Path> made = entries(temporary);
            made.addAll(entries(runtime));
            made.removeAll(inTemporary);
            made.removeAll(inRuntime);
            assertThat(made).as("a scratch directory and a socket's").hasSize(2);
            for (Path own : made) {
                assertThat(HostileNeighbour.mode(own)).isEqualTo("rwx------");
            }
            assertThat(HostileNeighbour.open(home)).isEmpty();
            feed.signal("TERM");
            assertThat(feed.code()).as(feed.output()).isZero();
        }
        assertThat(entries(temporary)).isEqualTo(inTemporary);
        assertThat(entries(runtime)).isEqualTo(inRuntime);
        nothingIsTouchedOutside();
    }

    @Test
    void anIngestIsNotStoppedEither() throws Exception {
        Set<Path> planted = plant(temporary, outside, ScratchDirectory.PREFIX, "");
        Path source = Files.createDirectories(directory.resolve("source/a"));
        Files.writeString(source.resolve("1.txt"), "1");
        HostileNeighbour.fifo(source.resolve("2.txt"));
        try (StokerProcess ingest = stoker(
                "ingest",
                source.getParent().toString(),
                directory.resolve("packed").toString(),
                "--label-from=parent-dir")) {
            assertThat(ingest.code()).as(ingest.output()).isZero();
            assertThat(ingest.output()).contains("version 1: 1 sample in 1 chunk", "left out: 1 special file,");
        }
        assertThat(entries(temporary)).isEqualTo(planted);
        assertThat(HostileNeighbour.open(home)).isEmpty();
        nothingIsTouchedOutside();
    }

    @Test
    void occupiedNamesInTheUsersDirectoryAreNamed() throws Exception {
        Path feeds = PrivateFiles.createDirectories(home.resolve("feeds"));
        Path lock = HostileNeighbour.fifo(feeds.resolve("photos.lock"));
        try (StokerProcess feed = feed()) {
            assertThat(feed.code()).isEqualTo(1);
            assertThat(feed.output())
                    .contains(lock + ": is a FIFO or a device instead of a lock file; move it out of the way");
        }
        Files.delete(lock);
        Files.createSymbolicLink(lock, outside.resolve("new"));
        try (StokerProcess feed = feed()) {
            assertThat(feed.code()).isEqualTo(1);
            assertThat(feed.output()).contains(lock + ": is a symbolic link instead of a lock file");
        }
        Files.delete(lock);
        Path file = Files.createSymbolicLink(feeds.resolve("photos.json"), outside.resolve("precious"));
        try (StokerProcess feed = stoker("ps")) {
            assertThat(feed.code()).isEqualTo(1);
        }
        Files.delete(file);
        HostileNeighbour.fifo(file);
        try (StokerProcess feed = stoker("ps")) {
            assertThat(feed.code()).isEqualTo(1);
            assertThat(feed.output()).contains(file + ": it is not a regular file");
        }
        Files.delete(file);
        PrivateFiles.delete(feeds);
        Files.createFile(feeds);
        try (StokerProcess feed = feed()) {
            assertThat(feed.code()).isEqualTo(1);
            assertThat(feed.output()).contains(feeds + ": is not a directory; move it out of the way");
        }
        nothingIsTouchedOutside();
    }

    /** No user can write to /proc, not even root, and it has no free space. */
    @Test
    void aTemporaryDirectoryWithoutRoomIsReplaced() throws Exception {
        temporary = Path.of("/proc");
        Path source = Files.createDirectories(directory.resolve("source/a"));
        Files.writeString(source.resolve("1.txt"), "1");
        String[] args = {
            "ingest", source.getParent().toString(), directory.resolve("packed").toString(), "--label-from=parent-dir"
        };
        try (StokerProcess ingest = stoker(args)) {
            assertThat(ingest.code()).as(ingest.output()).isZero();
        }
        assertThat(HostileNeighbour.open(home)).isEmpty();
        assertThat(entries(home.resolve("tmp"))).isEmpty();

        Files.delete(home.resolve("tmp"));
        Files.createFile(home.resolve("tmp"));
        try (StokerProcess ingest = stoker(args)) {
            assertThat(ingest.code()).isEqualTo(1);
            assertThat(ingest.output())
                    .startsWith("stoker: no place for temporary files (/proc: 0 B are free;")
                    .contains(home.resolve("tmp").toString(), "choose another place with STOKER_JAVA_OPTS=")
                    .hasLineCount(1);
        }
    }

    @Test
    void aTierThatOthersOccupyIsOffAndTheFeedGoesOn() throws Exception {
        Path tiers = shared("tiers");
        Path space = Files.createSymbolicLink(tiers.resolve("node"), outside);
        try (StokerProcess feed =
                feed("--tier=disk:" + tiers + ":64m", "--cache-lifetime=node").await("ready at")) {
            feed.await(space + ": belongs to another user; choose another directory");
        }
        Path lock = tiers.resolve("cache.lock");
        Files.delete(lock);
        HostileNeighbour.fifo(lock);
        try (StokerProcess feed =
                feed("--tier=disk:" + tiers + ":64m", "--cache-lifetime=node").await("ready at")) {
            feed.await(lock + ": is a FIFO or a device instead of a lock file");
        }
        nothingIsTouchedOutside();
        List<Path> made = entries(tiers).stream()
                .filter(path -> Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS))
                .toList();
        assertThat(made).isEmpty();
    }
}
