package dev.stoker.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.Tags;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.testing.KeyPathVectors;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileChecksum;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.security.AccessControlException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StokerFileSystemTest {

    @TempDir
    private java.nio.file.Path directory;

    private FileDataset photos;

    @BeforeEach
    void create() throws IOException {
        photos = new FileDataset(directory.resolve("photos"));
    }

    @AfterEach
    void close() throws IOException {
        photos.close();
    }

    private static String read(FileSystem files, Path path) throws IOException {
        return new String(files.open(path).readAllBytes(), StandardCharsets.UTF_8);
    }

    private static List<String> names(FileSystem files, String path) throws IOException {
        return Stream.of(files.listStatus(new Path(path)))
                .map(status -> status.getPath().getName() + (status.isDirectory() ? "/" : ""))
                .toList();
    }

    /** Walks a tree as programs do, and returns the contents of all files by their paths. */
    private static Map<String, String> walk(FileSystem files, Path path) throws IOException {
        Map<String, String> contents = new TreeMap<>();
        for (FileStatus status : files.listStatus(path)) {
            FileStatus again = files.getFileStatus(status.getPath());
            assertThat(again).isEqualTo(status);
            assertThat(again.getLen()).isEqualTo(status.getLen());
            assertThat(again.isDirectory()).isEqualTo(status.isDirectory());
            if (status.isDirectory()) {
                contents.putAll(walk(files, status.getPath()));
            } else {
                String content = read(files, status.getPath());
                assertThat(content.getBytes(StandardCharsets.UTF_8).length).isEqualTo((int) status.getLen());
                contents.put(status.getPath().toUri().getPath(), content);
            }
        }
        return contents;
    }

    @Test
    void keysAreFilesInDirectories() throws IOException {
        photos.append("train", "cats/1.jpg", "cats/2.jpg", "readme").append("val", "cats/old/3.jpg", "dogs/1.jpg");
        FileSystem files = FileSystem.newInstance(URI.create("stoker://photos"), photos.conf());

        assertThat(names(files, "/")).containsExactly("cats/", "dogs/", "readme");
        assertThat(names(files, "/cats")).containsExactly("1.jpg", "2.jpg", "old/");
        FileStatus file = files.getFileStatus(new Path("stoker://photos/cats/1.jpg"));
        assertThat(file.getPath()).isEqualTo(new Path("stoker://photos/cats/1.jpg"));
        assertThat(file.getLen()).isEqualTo(10);
        assertThat(file.getBlockSize()).isEqualTo(10);
        assertThat(file.getPermission()).isEqualTo(new FsPermission((short) 0444));
        assertThat(file.getModificationTime()).isEqualTo(SampleDatasets.NOW.toEpochMilli());
        assertThat(files.getFileStatus(new Path("/cats")).getPermission()).isEqualTo(new FsPermission((short) 0555));
        assertThat(read(files, new Path("cats/old/3.jpg"))).isEqualTo("cats/old/3.jpg");
        files.access(file.getPath(), FsAction.READ);
        assertThatThrownBy(() -> files.access(file.getPath(), FsAction.WRITE))
                .isInstanceOf(AccessControlException.class);
        assertThat(files.exists(new Path("/cat"))).isFalse();
        assertThat(files.getContentSummary(new Path("/")).getFileCount()).isEqualTo(5);
        files.close();
        assertThatThrownBy(() -> files.exists(new Path("/")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("closed");
    }

    @Test
    void eachKeyIsOneFileHoweverOddItIs() throws IOException {
        List<String> keys = List.of(
                "/",
                "//",
                "a",
                "a/",
                "a//",
                "a/b",
                "a/b/c",
                "a!b",
                "a%",
                "%",
                "..",
                "../..",
                "./x",
                "/etc/passwd",
                "s3a://b",
                "nul\0",
                "tab\t",
                " space ",
                "ü/ö",
                "😀",
                "b",
                "b.txt",
                "b/1",
                "*",
                "{x}",
                "back\\slash");
        photos.append("train", keys.subList(0, 12).toArray(String[]::new))
                .append("val", keys.subList(12, keys.size()).toArray(String[]::new));
        FileSystem files = photos.open();

        Map<String, String> walked = walk(files, new Path("/"));

        assertThat(walked.values()).containsExactlyInAnyOrderElementsOf(keys);
        assertThat(walked)
                .containsEntry("/a", "a")
                .containsEntry("/a%/b", "a/b")
                .containsEntry("/a%/b%/c", "a/b/c")
                .containsEntry("/b", "b")
                .containsEntry("/b.txt", "b.txt")
                .containsEntry("/%2E.", "..");
        assertThat(files.exists(new Path("/b%"))).isTrue();
        assertThat(files.exists(new Path("/b/1"))).isFalse();
        assertThat(files.exists(new Path("/b.txt%"))).isFalse();
        Map<String, String> listed = new TreeMap<>();
        for (RemoteIterator<LocatedFileStatus> all = files.listFiles(new Path("/"), true); all.hasNext(); ) {
            Path path = all.next().getPath();
            listed.put(path.toUri().getPath(), read(files, path));
        }
        assertThat(listed).isEqualTo(walked);
    }

    @Test
    void keysHaveThePathsOfTheVectorsInHadoopToo() throws IOException {
        for (Map<String, String> paths : List.of(KeyPathVectors.alone(), KeyPathVectors.beside())) {
            try (FileDataset odd = new FileDataset(new InMemoryObjectStore(), "memory")) {
                FileSystem files = odd.append("train", paths.keySet().toArray(String[]::new))
                        .open();
                Map<String, String> expected = new TreeMap<>();
                paths.forEach((key, path) -> expected.put("/" + path, key));

                assertThat(walk(files, new Path("/"))).isEqualTo(expected);
                for (String name : expected.keySet()) {
                    Path path = new Path("stoker", "photos@3", name);
                    assertThat(path.toUri().getPath()).isEqualTo(name);
                    assertThat(new Path(path.toString())).isEqualTo(path);
                    assertThat(new Path(path.toUri())).isEqualTo(path);
                    assertThat(new Path(path.getParent(), path.getName())).isEqualTo(path);
                }
            }
        }
    }

    @Test
    void chunksWithAndWithoutAnAddedFieldAreRead() throws IOException {
        photos.append("train", "a/1");
        SampleDatasets.addField(photos.dataset(), Field.nullable("score", ScalarType.INT64));
        photos.append("train", "a/2").appendWithAllFields("a/3");

        assertThat(walk(photos.open(), new Path("/")))
                .containsExactly(Map.entry("/a/1", "a/1"), Map.entry("/a/2", "a/2"), Map.entry("/a/3", "a/3"));
    }

    @Test
    void theVersionIsTheNewestOfTheTimeOfTheOpening() throws IOException {
        photos.append("train", "a");
        FileSystem first = photos.open();
        photos.append("train", "b");
        new Tags(photos.dataset()).set("Best", 1, Tags.Mode.CREATE, SampleDatasets.CLOCK, "ada");
        photos.remove("a");

        assertThat(names(first, "/")).containsExactly("a");
        assertThat(names(photos.open(), "/")).containsExactly("b");
        assertThat(names(photos.open(URI.create("stoker://photos@2/"), photos.conf()), "/"))
                .containsExactly("a", "b");
        FileSystem tagged = photos.open(URI.create("stoker://photos@Best/"), photos.conf());
        assertThat(names(tagged, "/")).containsExactly("a");
        assertThat(read(tagged, new Path("stoker://photos@Best/a"))).isEqualTo("a");
        assertThat(tagged.listStatus(new Path("/"))[0].getPath()).isEqualTo(new Path("stoker://photos@Best/a"));
        // Hadoop's cache of file systems ignores the case.
        assertThatThrownBy(() -> tagged.open(new Path("stoker://photos@best/a")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Wrong FS")
                .hasMessageContaining("fs.stoker.impl.disable.cache");
    }

    @Test
    void aSplitCanBeADatasetOfItsOwn() throws IOException {
        photos.append("train", "a").append("val", "b");
        Configuration conf = photos.conf();
        conf.set("fs.stoker.dataset.val", directory.resolve("photos") + "@2:val");

        assertThat(names(photos.open(URI.create("stoker://val/"), conf), "/")).containsExactly("b");
        assertThatThrownBy(() -> photos.open(URI.create("stoker://val@1/"), conf))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("names a version, and so does fs.stoker.dataset.val");
    }

    @Test
    void unknownNamesAndWrongSettingsSayWhatToSet() throws IOException {
        photos.append("train", "a");

        assertThatThrownBy(() -> photos.open(URI.create("stoker://cats"), photos.conf()))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("set fs.stoker.dataset.cats to its directory or URI");
        assertThatThrownBy(() -> photos.open(URI.create("stoker:///x"), photos.conf()))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("expected stoker://NAME/");
        assertThatThrownBy(() -> photos.open(URI.create("stoker://photos@7"), photos.conf()))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("7");
        assertThatThrownBy(() -> photos.open("fs.stoker.field.photos", "label"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no field label of bytes or text; choose image with fs.stoker.field.photos");
        assertThatThrownBy(() -> photos.open("fs.stoker.cache.chunks", "much"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("expected a size such as 64m");
        assertThatThrownBy(() -> photos.open("fs.stoker.dataset.photos", "stoker://photos"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("never on a stoker:// file system");
    }

    @Test
    void nothingCanBeChanged() throws IOException {
        photos.append("train", "a");
        FileSystem files = photos.open();
        Path path = new Path("/a");
        java.nio.file.Path local = Files.writeString(directory.resolve("local"), "x");

        for (ThrowingCallable change : List.<ThrowingCallable>of(
                () -> files.create(path),
                () -> files.createFile(path).build(),
                () -> files.append(path),
                () -> files.delete(path, true),
                () -> files.deleteOnExit(path),
                () -> files.rename(path, new Path("/b")),
                () -> files.mkdirs(new Path("/d")),
                () -> files.setPermission(path, new FsPermission((short) 0777)),
                () -> files.setOwner(path, "x", "y"),
                () -> files.setTimes(path, 1, 1),
                () -> files.setReplication(path, (short) 2),
                () -> files.copyFromLocalFile(new Path(local.toUri()), new Path("/new")))) {
            assertThatThrownBy(change)
                    .isInstanceOf(AccessControlException.class)
                    .hasMessageContaining("stoker:// is read-only");
        }
        assertThat(read(files, path)).isEqualTo("a");
    }

    @Test
    void aDamagedSampleIsNeverRead() throws IOException {
        byte[] image = new byte[1000];
        Arrays.fill(image, (byte) 7);
        photos.append("train", Map.of("a/1", image)).append("train", "a/2");
        FileSystem files = photos.open();
        try (Stream<java.nio.file.Path> chunks = Files.walk(directory.resolve("photos/chunks"))) {
            for (java.nio.file.Path chunk : chunks.filter(Files::isRegularFile).toList()) {
                byte[] bytes = Files.readAllBytes(chunk);
                int at = IntStream.range(0, bytes.length - 1)
                        .filter(i -> bytes[i] == 7 && bytes[i + 1] == 7)
                        .findFirst()
                        .orElse(-1);
                if (at >= 0) {
                    bytes[at] ^= 1;
                    Files.write(chunk, bytes);
                }
            }
        }

        for (String memory : List.of("64m", "100")) {
            FileSystem each = photos.open("fs.stoker.whole.sample", memory);
            assertThatThrownBy(() -> each.open(new Path("/a/1")).read())
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("'a/1' in row 0 of chunk 0 of version 2 of")
                    .hasMessageContaining("CRC32C");
        }
        assertThat(read(files, new Path("/a/2"))).isEqualTo("a/2");
    }

    @Test
    void aSampleThatIsLargerThanTheMemoryIsReadInBlocks() throws IOException {
        byte[] video = new byte[LargeContent.BLOCK_BYTES * 2 + 12_345];
        for (int i = 0; i < video.length; i++) {
            video[i] = (byte) ((i * 31) >> 3);
        }
        photos.append("train", Map.of("v", video));

        var in = photos.open("fs.stoker.whole.sample", "1m").open(new Path("/v"));

        assertThat(in.readAllBytes()).isEqualTo(video);
        byte[] part = new byte[1000];
        in.readFully(LargeContent.BLOCK_BYTES - 500L, part);
        assertThat(part)
                .isEqualTo(Arrays.copyOfRange(video, LargeContent.BLOCK_BYTES - 500, LargeContent.BLOCK_BYTES + 500));
    }

    @Test
    void checksumsAreThoseOfHdfsIfProgramsCompareWholeFiles() throws IOException {
        photos.append("train", "a", "b/c");

        FileChecksum checksum =
                photos.open("dfs.checksum.combine.mode", "COMPOSITE_CRC").getFileChecksum(new Path("/a"));

        // The CRC-32C of "a".
        assertThat(checksum).hasToString("COMPOSITE-CRC32C:0xc1d04330");
        assertThat(photos.open().getFileChecksum(new Path("/a"))).isNull();
    }

    @Test
    void aFileContextReadsTheSame() throws IOException {
        photos.append("train", "a/1", "a/2");
        Configuration conf = photos.conf("fs.AbstractFileSystem.stoker.impl", StokerFs.class.getName());

        FileContext context = FileContext.getFileContext(URI.create("stoker://photos"), conf);

        List<String> names = new ArrayList<>();
        for (RemoteIterator<FileStatus> all = context.listStatus(new Path("/a")); all.hasNext(); ) {
            names.add(all.next().getPath().toString());
        }
        assertThat(names).containsExactly("stoker://photos/a/1", "stoker://photos/a/2");
        assertThat(context.open(new Path("/a/2")).readAllBytes()).isEqualTo("a/2".getBytes(StandardCharsets.UTF_8));
    }
}
