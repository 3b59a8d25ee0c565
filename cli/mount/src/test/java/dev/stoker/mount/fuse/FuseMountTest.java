package dev.stoker.mount.fuse;

import static dev.stoker.mount.Shell.ok;
import static dev.stoker.mount.Shell.run;
import static dev.stoker.mount.TestMount.images;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.SampleDatasets;
import dev.stoker.mount.Shell;
import dev.stoker.mount.TestMount;
import dev.stoker.mount.tree.MountTree;
import dev.stoker.mount.tree.TreeOptions;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.path.KeyPaths;
import dev.stoker.schemas.testing.KeyPathVectors;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Holds a mounted dataset to what unmodified programs see of the same files in a directory. */
@Tag("fuse")
@Timeout(120)
@Tag("full-programs")
class FuseMountTest {

    private static final TreeOptions OPTIONS = TreeOptions.defaults().with(Duration.ofMillis(20));

    @TempDir
    private Path directory;

    private final List<AutoCloseable> open = new ArrayList<>();
    private final List<String> problems = new CopyOnWriteArrayList<>();
    private TestMount made;
    private Path point;

    @BeforeEach
    void create() throws IOException {
        made = new TestMount(store());
        point = Files.createDirectory(directory.resolve("point"));
    }

    @AfterEach
    void unmount() throws Exception {
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
    }

    private ObjectStore store() {
        return new LocalObjectStore(directory.resolve("data"));
    }

    private FuseMount mount(OptionalLong version, TreeOptions options) throws IOException {
        MountTree tree = TestMount.open(store(), version, options);
        open.add(tree);
        FuseMount mount = FuseMount.start(
                tree, point, new FuseSettings("stoker, test", tree.isImmutable(), false), new Problems(problems::add));
        open.add(mount);
        return mount;
    }

    /** Writes files to the paths of their keys, and commits them as two chunks. Each gets the time of the version. */
    private Map<String, byte[]> tree() throws IOException {
        Random random = new Random(7);
        Map<String, byte[]> files = new HashMap<>();
        for (int i = 0; i < 40; i++) {
            byte[] content = new byte[i == 0 ? 700_000 : random.nextInt(5000)];
            random.nextBytes(content);
            files.put("class-" + i % 3 + "/deep/" + i + " ä%20.jpg", content);
        }
        files.put("empty", new byte[0]);
        files.put("two\nlines", "x".getBytes(StandardCharsets.UTF_8));
        for (Map.Entry<String, byte[]> file : files.entrySet()) {
            Path path = directory.resolve("source").resolve(KeyPaths.of(file.getKey()));
            Files.createDirectories(path.getParent());
            Files.write(path, file.getValue());
            Files.setLastModifiedTime(path, FileTime.from(TestMount.FIRST));
        }
        Map<String, byte[]> second = new HashMap<>(files);
        second.keySet().removeIf(key -> key.hashCode() % 2 == 0);
        Map<String, byte[]> first = new HashMap<>(files);
        first.keySet().removeAll(second.keySet());
        made.append(first, second);
        return files;
    }

    @Test
    void agreesWithTheSourceTreeForUnmodifiedPrograms() throws Exception {
        tree();
        mount(OptionalLong.of(1), OPTIONS);
        for (String line : List.of(
                "ls -R",
                "find . -type f -printf '%p %s %T@\\n' | sort",
                "find . -type d | sort",
                "find . -type f -print0 | sort -z | xargs -0 md5sum",
                "find . -type f -print0 | sort -z | xargs -0 cat | md5sum",
                "tail -c 7 class-0/deep/0*; head -c 70000 class-0/deep/0* | tail -c 5 | od -c",
                "tar --sort=name --mode=a=r --owner=0 --group=0 --mtime=@0 -c . | md5sum")) {
            assertThat(ok(point, line)).as(line).isEqualTo(ok(directory.resolve("source"), line));
        }
        ok(directory, "diff -r source point");
        ok(directory, "cp -r --preserve=timestamps point copy && diff -r source copy && rm -r copy");
        assertThat(problems).isEmpty();
    }

    @Test
    void programsSeeTheNamesOfTheVectors() throws Exception {
        for (Map<String, String> paths : List.of(KeyPathVectors.alone(), KeyPathVectors.beside())) {
            made.replace(images(paths.keySet().toArray(String[]::new)));
            FuseMount mount = mount(OptionalLong.of(made.dataset().latestVersion()), OPTIONS);
            assertThat(ok(point, "find . -type f -printf '%P\\0'").split("\0"))
                    .containsExactlyInAnyOrderElementsOf(paths.values());
            assertThat(ok(point, "find . -type f -print0 | LC_ALL=C sort -z | xargs -0 cat | md5sum"))
                    .startsWith(md5(paths));
            mount.close();
        }
        assertThat(problems).isEmpty();
    }

    /** Returns the hash of the images in the order of the bytes of their paths. */
    private static String md5(Map<String, String> paths) throws NoSuchAlgorithmException {
        Map<byte[], String> sorted = new TreeMap<>(Arrays::compareUnsigned);
        paths.forEach((key, path) -> sorted.put(("./" + path + '\0').getBytes(StandardCharsets.UTF_8), key));
        MessageDigest hash = MessageDigest.getInstance("MD5");
        sorted.values().forEach(key -> hash.update(("image of " + key).getBytes(StandardCharsets.UTF_8)));
        return HexFormat.of().formatHex(hash.digest());
    }

    @Test
    void isReadOnly() throws Exception {
        made.append(images("cat/1"));
        mount(OptionalLong.empty(), OPTIONS);
        for (String line : List.of("touch new", "rm cat/1", "mkdir d", "echo x > cat/1", "mv cat/1 cat/2")) {
            assertThat(run(point, line).output()).as(line).contains("Read-only file system");
        }
        assertThat(run(point, "cat cat/2").output()).contains("No such file or directory");
        assertThat(ok(point, "findmnt -n -o FSTYPE,SOURCE,OPTIONS " + point))
                .contains("fuse.stoker", "stoker, test", "ro");
    }

    @Test
    void answersWithAnErrorForADamagedSample() throws Exception {
        made.append(Map.of("cat/1", new byte[1000], "cat/2", new byte[1000]));
        Path chunk = directory.resolve("data").resolve(ChunkNames.path(SampleDatasets.id(1)));
        byte[] bytes = Files.readAllBytes(chunk);
        bytes[made.dataset().snapshot().table().headLength(0) + 100] ^= 1;
        Files.write(chunk, bytes);
        mount(OptionalLong.empty(), OPTIONS);
        Shell.Result result = run(point, "cat cat/1 cat/2 > /dev/null; cat cat/1 cat/2 > /dev/null");
        assertThat(result.lines()).hasSize(2).allMatch(line -> line.contains("Input/output error"));
        assertThat(problems)
                .singleElement()
                .asString()
                .contains("Cannot read /cat/")
                .contains("CRC32C of image of sample 'cat/")
                .contains("of chunk 0, version 1");
    }

    @Test
    void showsNewVersionsWhileOpenFilesKeepTheirs() throws Exception {
        byte[] old = "old ".repeat(100_000).getBytes(StandardCharsets.UTF_8);
        made.append(Map.of("cat/1", old, "cat/2", new byte[3]));
        mount(OptionalLong.empty(), OPTIONS);
        Process reader = new ProcessBuilder("bash", "-c", "exec 3< cat/1; head -c 4 <&3; read -r; cat <&3 | md5sum")
                .directory(point.toFile())
                .redirectErrorStream(true)
                .start();
        assertThat(new String(reader.getInputStream().readNBytes(4), StandardCharsets.UTF_8))
                .isEqualTo("old ");
        made.replace(Map.of("cat/1", new byte[5], "cat/3", new byte[3]));
        await("ls cat", "1\n3\n");
        assertThat(ok(point, "stat -c %s cat/1; wc -c < cat/1")).isEqualTo("400000\n400000\n");
        reader.getOutputStream().write('\n');
        reader.getOutputStream().close();
        assertThat(new String(reader.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .isEqualTo(ok(directory, "yes 'old ' | tr -d '\\n' | head -c 400000 | tail -c 399996 | md5sum"));
        await("stat -c %s cat/1", "5\n");
        assertThat(ok(point, "cat cat/1 | wc -c")).isEqualTo("5\n");
    }

    @Test
    void neverMixesTwoVersionsOfAFile() throws Exception {
        made.append(Map.of("cat/1", "old".getBytes(StandardCharsets.UTF_8)));
        mount(OptionalLong.empty(), OPTIONS);
        String newest = "new".repeat(100_000);
        made.replace(Map.of("cat/1", newest.getBytes(StandardCharsets.UTF_8)));
        String line = "stat -c %s cat/1 > /dev/null; cat cat/1";
        String content = run(point, line).output();
        while (!content.equals(newest)) {
            assertThat(content).isEqualTo("old");
            content = run(point, line).output();
        }
    }

    private void await(String line, String output) throws IOException, InterruptedException {
        while (!run(point, line).output().equals(output)) {
            Thread.onSpinWait();
        }
    }

    @Test
    void hasHiddenVersions() throws Exception {
        made.append(images("cat/1"));
        made.replace(images("cat/2"));
        mount(OptionalLong.empty(), OPTIONS);
        assertThat(ok(point, "ls -A; ls .stoker/versions; cat .stoker/versions/1/cat/1"))
                .isEqualTo("cat\n1\n2\nimage of cat/1");
    }

    @Test
    void listsManyFilesInParts() throws Exception {
        Map<String, byte[]> many = new HashMap<>();
        for (int i = 0; i < 20_000; i++) {
            many.put("d/a-rather-long-name-" + i, new byte[0]);
        }
        made.append(many);
        mount(OptionalLong.of(1), OPTIONS);
        assertThat(ok(point, "ls d | wc -l").strip()).isEqualTo("20000");
        assertThat(ok(point, "ls -l d | tail -n +2 | wc -l").strip()).isEqualTo("20000");
    }

    @Test
    void saysWhatIsMissing() throws Exception {
        made.append(images("cat/1"));
        assertThatThrownBy(() -> FuseMount.require(directory.resolve("absent")))
                .isInstanceOf(StokerException.class)
                .hasMessageContaining("create it with mkdir -p");
        assertThatThrownBy(() -> FuseMount.require(directory.resolve("data")))
                .hasMessageContaining("is not empty; a mount would hide its files");
        assertThatThrownBy(() -> FuseMount.require(Files.createFile(directory.resolve("file"))))
                .hasMessageContaining("is not a directory");
        assertThatThrownBy(() -> FuseMount.requireDevice(directory.resolve("fuse")))
                .hasMessageContaining("--device /dev/fuse --cap-add SYS_ADMIN");
        mount(OptionalLong.empty(), OPTIONS);
        assertThatThrownBy(() -> FuseMount.require(point))
                .hasMessageContaining("is a mount point of stoker, test; end it with stoker unmount " + point);
    }

    @Test
    void endsWhenAnotherProcessUnmounts() throws Exception {
        made.append(images("cat/1"));
        FuseMount mount = mount(OptionalLong.empty(), OPTIONS);
        ok(directory, "umount " + point);
        mount.await();
        assertThat(ok(point, "ls")).isEmpty();
    }
}
