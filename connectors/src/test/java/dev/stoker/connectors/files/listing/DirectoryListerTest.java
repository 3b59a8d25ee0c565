package dev.stoker.connectors.files.listing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.files.FileSkip;
import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.NameFilter;
import dev.stoker.connectors.files.source.split.DirectorySplit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class DirectoryListerTest {

    @TempDir
    private Path root;

    /** All that a walk of the tree brings. */
    private static final class Seen implements DirectoryLister.Visitor {
        private final List<String> files = new ArrayList<>();
        private final Map<String, String> sidecars = new TreeMap<>();
        private final Map<String, FileSkip> skipped = new TreeMap<>();
        private final Deque<DirectorySplit> pending = new ArrayDeque<>(List.of(DirectorySplit.ROOT));
        private DirectorySplit current;

        @Override
        public void file(String name, long size, long modifiedMs, long[] sizes) {
            files.add(current.child(name));
            if (sizes.length > 0) {
                sidecars.put(current.child(name), Arrays.toString(sizes));
            }
        }

        @Override
        public void directory(DirectorySplit directory) {
            pending.add(directory);
        }

        @Override
        public void skip(FileSkip reason, String path) {
            skipped.put(path, reason);
        }
    }

    private FileTree tree() {
        return new FileTree(
                root.toString(),
                FileTree.Hidden.SKIP,
                FileTree.Links.FOLLOW,
                FileTree.Empty.SKIP,
                FileTree.Errors.FAIL,
                List.of(),
                NameFilter.ALL,
                true);
    }

    private static Seen walk(FileTree tree) throws IOException {
        DirectoryLister lister = DirectoryLister.local(tree);
        Seen seen = new Seen();
        while (!seen.pending.isEmpty()) {
            seen.current = seen.pending.poll();
            lister.list(seen.current, seen);
        }
        return seen;
    }

    private void file(String path, String content) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, content);
    }

    private void link(String path, String target) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.createSymbolicLink(file, Path.of(target));
    }

    @Test
    void findsFilesOfAllDirectoriesInOrder() throws IOException {
        file("b/2.jpg", "22");
        file("b/10.jpg", "22");
        file("a/c/d.jpg", "x");
        file("z.jpg", "x");

        assertThat(walk(tree()).files).containsExactly("z.jpg", "b/10.jpg", "b/2.jpg", "a/c/d.jpg");
    }

    @Test
    void countsHiddenAndEmptyFilesAndHiddenDirectoriesOnce() throws IOException {
        file("a/.hidden", "x");
        file("a/empty.jpg", "");
        file(".git/1", "x");
        file(".git/2", "x");
        file("a/1.jpg", "x");

        Seen seen = walk(tree());

        assertThat(seen.files).containsExactly("a/1.jpg");
        assertThat(seen.skipped)
                .isEqualTo(
                        Map.of("a/.hidden", FileSkip.HIDDEN, "a/empty.jpg", FileSkip.EMPTY, ".git", FileSkip.HIDDEN));
    }

    @Test
    void takesHiddenAndEmptyFilesWhenAsked() throws IOException {
        file(".a/.hidden", "x");
        file("empty.jpg", "");
        FileTree all = new FileTree(
                root.toString(),
                FileTree.Hidden.INCLUDE,
                FileTree.Links.FOLLOW,
                FileTree.Empty.INCLUDE,
                FileTree.Errors.FAIL,
                List.of(),
                NameFilter.ALL,
                true);

        Seen seen = walk(all);

        assertThat(seen.files).containsExactly("empty.jpg", ".a/.hidden");
        assertThat(seen.skipped).isEmpty();
    }

    @Test
    void followsLinksToFilesAndDirectories() throws IOException {
        file("real/1.jpg", "x");
        link("linked", "real");
        link("one.jpg", "real/1.jpg");

        Seen seen = walk(tree());

        assertThat(seen.files).containsExactlyInAnyOrder("real/1.jpg", "linked/1.jpg", "one.jpg");
        assertThat(seen.skipped).isEmpty();
    }

    @Test
    void skipsLinksWhenAsked() throws IOException {
        file("real/1.jpg", "x");
        link("linked", "real");
        FileTree tree = new FileTree(
                root.toString(),
                FileTree.Hidden.SKIP,
                FileTree.Links.SKIP,
                FileTree.Empty.SKIP,
                FileTree.Errors.FAIL,
                List.of(),
                NameFilter.ALL,
                true);

        Seen seen = walk(tree);

        assertThat(seen.files).containsExactly("real/1.jpg");
        assertThat(seen.skipped).isEqualTo(Map.of("linked", FileSkip.LINK));
    }

    @Test
    void endsLoopsOfLinks() throws IOException {
        file("a/1.jpg", "x");
        link("a/up", "..");
        link("a/self", ".");
        link("knot", "knot");

        Seen seen = walk(tree());

        assertThat(seen.files).containsExactly("a/1.jpg");
        assertThat(seen.skipped)
                .isEqualTo(Map.of("a/up", FileSkip.LOOP, "a/self", FileSkip.LOOP, "knot", FileSkip.LOOP));
    }

    @Test
    void endsLoopsThatGoThroughTwoDirectories() throws IOException {
        file("a/1.jpg", "x");
        file("b/2.jpg", "x");
        link("a/to-b", "../b");
        link("b/to-a", "../a");

        Seen seen = walk(tree());

        assertThat(seen.files).containsExactlyInAnyOrder("a/1.jpg", "a/to-b/2.jpg", "b/2.jpg", "b/to-a/1.jpg");
        assertThat(seen.skipped).isEqualTo(Map.of("a/to-b/to-a", FileSkip.LOOP, "b/to-a/to-b", FileSkip.LOOP));
    }

    @Test
    void endsLoopsThatBeginOutsideTheTree(@TempDir Path outside) throws IOException {
        file("a/1.jpg", "x");
        Files.createDirectories(outside.resolve("o/p"));
        Files.writeString(outside.resolve("o/p/2.jpg"), "x");
        Files.createSymbolicLink(outside.resolve("o/p/back"), outside.resolve("o"));
        link("out", outside.resolve("o").toString());

        Seen seen = walk(tree());

        assertThat(seen.files).containsExactlyInAnyOrder("a/1.jpg", "out/p/2.jpg");
        assertThat(seen.skipped).isEqualTo(Map.of("out/p/back", FileSkip.LOOP));
    }

    @Test
    void countsBrokenLinksAndSpecialFiles() throws Exception {
        file("1.jpg", "x");
        link("broken.jpg", "nowhere");
        assertThat(new ProcessBuilder("mkfifo", root.resolve("pipe").toString())
                        .start()
                        .waitFor())
                .isZero();

        Seen seen = walk(tree());

        assertThat(seen.files).containsExactly("1.jpg");
        assertThat(seen.skipped).isEqualTo(Map.of("broken.jpg", FileSkip.BROKEN_LINK, "pipe", FileSkip.SPECIAL));
    }

    @Test
    void countsADirectoryThatHasVanished() throws IOException {
        Seen seen = new Seen();

        DirectoryLister.local(tree()).list(new DirectorySplit("gone", List.of()), seen);

        assertThat(seen.skipped).isEqualTo(Map.of("gone", FileSkip.VANISHED));
    }

    @Test
    void namesWhatCannotBeFollowed() throws IOException {
        // The name of a link's target is too long for any file system.
        link("far.jpg", "x".repeat(300));

        assertThatThrownBy(() -> walk(tree()))
                .isInstanceOf(UnreadableException.class)
                .hasMessageContaining(root.resolve("far.jpg").toString())
                .hasMessageContaining("--on-error skip");
    }

    @Test
    void countsWhatCannotBeFollowedWhenAsked() throws IOException {
        link("far.jpg", "x".repeat(300));
        file("1.jpg", "x");
        FileTree tree = new FileTree(
                root.toString(),
                FileTree.Hidden.SKIP,
                FileTree.Links.FOLLOW,
                FileTree.Empty.SKIP,
                FileTree.Errors.SKIP,
                List.of(),
                NameFilter.ALL,
                false);

        Seen seen = walk(tree);

        assertThat(seen.files).containsExactly("1.jpg");
        assertThat(seen.skipped).isEqualTo(Map.of("far.jpg", FileSkip.UNREADABLE));
    }

    @Test
    void pairsSidecarsWithSamples() throws IOException {
        file("a.jpg", "xxx");
        file("a.txt", "12");
        file("b.jpg", "x");
        file("c.d.jpg", "x");
        file("c.d.txt", "");
        file("lone.txt", "x");
        FileTree tree = new FileTree(
                root.toString(),
                FileTree.Hidden.SKIP,
                FileTree.Links.FOLLOW,
                FileTree.Empty.SKIP,
                FileTree.Errors.FAIL,
                List.of(".txt", ".json"),
                NameFilter.ALL,
                false);

        Seen seen = walk(tree);

        assertThat(seen.sidecars).isEqualTo(Map.of("a.jpg", "[2, -1]", "b.jpg", "[-1, -1]", "c.d.jpg", "[0, -1]"));
        assertThat(seen.skipped).isEqualTo(Map.of("lone.txt", FileSkip.LONE_SIDECAR));
    }
}
