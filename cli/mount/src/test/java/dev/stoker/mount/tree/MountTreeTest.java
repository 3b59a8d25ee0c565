package dev.stoker.mount.tree;

import static dev.stoker.mount.TestMount.images;
import static dev.stoker.mount.TestMount.list;
import static dev.stoker.mount.TestMount.open;
import static dev.stoker.mount.TestMount.read;
import static dev.stoker.mount.TestMount.readAll;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.VersionUses;
import dev.stoker.mount.TestMount;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.dataset.VersionUse;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.schemas.testing.KeyPathVectors;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class MountTreeTest {

    private static final TreeOptions OPTIONS = TreeOptions.defaults();

    @TempDir
    private Path directory;

    private TestMount made;

    @BeforeEach
    void create() throws IOException {
        made = new TestMount(store());
    }

    private ObjectStore store() {
        return new LocalObjectStore(directory);
    }

    private MountTree newest() throws IOException {
        return open(store(), OptionalLong.empty(), OPTIONS);
    }

    @Test
    void hasTheDirectoriesAndFilesOfTheKeys() throws IOException {
        made.append(images("cat/1", "dog/x/2", "top"), images("cat/3", "cat-a/4"));
        try (MountTree tree = newest()) {
            assertThat(list(tree, "/")).containsExactly("cat-a/", "cat/", "dog/", "top");
            assertThat(list(tree, "/cat")).containsExactly("1", "3");
            assertThat(readAll(tree, "/"))
                    .containsOnlyKeys("/cat/1", "/cat/3", "/cat-a/4", "/dog/x/2", "/top")
                    .containsEntry("/dog/x/2", "image of dog/x/2");
            assertThat(tree.find("/cat/9")).isEmpty();
            assertThat(tree.find("/ca")).isEmpty();
            assertThat(tree.find("/top/1")).isEmpty();
        }
    }

    @Test
    void showsHostileKeysUnderTheNamesOfTheVectors() throws IOException {
        for (Map<String, String> paths : List.of(KeyPathVectors.alone(), KeyPathVectors.beside())) {
            made.replace(images(paths.keySet().toArray(String[]::new)));
            Map<String, String> expected = new HashMap<>();
            paths.forEach((key, path) -> expected.put("/" + path, "image of " + key));
            try (MountTree tree = newest()) {
                assertThat(readAll(tree, "/")).isEqualTo(expected);
                assertThat(tree.find("/a/../../etc/passwd")).isEmpty();
                assertThat(tree.find("/%2e")).isEmpty();
                assertThat(tree.find("/h%")).isEmpty();
            }
        }
    }

    @Test
    void hasThePayloadsSizeAndTheTimeOfTheVersionThatAddedTheSample() throws IOException {
        made.append(images("cat/1"));
        made.append(images("cat/22"));
        try (MountTree tree = newest()) {
            Node.File first = (Node.File) tree.find("/cat/1").orElseThrow();
            assertThat(first.size()).isEqualTo("image of cat/1".length());
            assertThat(first.modifiedMs()).isEqualTo(TestMount.FIRST.toEpochMilli());
            Node.File second = (Node.File) tree.find("/cat/22").orElseThrow();
            assertThat(second.modifiedMs())
                    .isEqualTo(TestMount.FIRST.plusSeconds(60).toEpochMilli());
            assertThat(tree.find("/cat").orElseThrow().modifiedMs()).isEqualTo(second.modifiedMs());
        }
    }

    @Test
    void hasTheSizesOfChunksWithAndWithoutAnAddedField() throws IOException {
        made.append(images("cat/1"));
        SampleDatasets.addField(made.dataset(), Field.nullable("score", ScalarType.INT64));
        SampleDatasets.addField(made.dataset(), Field.nullable("note", ScalarType.UTF8));
        made.append(images("cat/2"));
        made.appendWithAllFields(images("cat/3"));
        List<MountedDataset> notes = List.of(new MountedDataset("", store(), OptionalLong.empty(), "note"));
        try (MountTree tree = newest();
                MountTree other = MountTree.open(UUID.randomUUID(), notes, OPTIONS)) {
            for (String key : List.of("cat/1", "cat/2", "cat/3")) {
                assertThat(read(tree, "/" + key))
                        .asString(StandardCharsets.UTF_8)
                        .isEqualTo("image of " + key);
                assertThat(read(other, "/" + key)).isEmpty();
            }
            assertThat(readAll(tree, "/.stoker/versions/1")).hasSize(1);
            assertThatThrownBy(() -> other.find("/.stoker/versions/1/cat/1"))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("has no field note of bytes or text");
        }
    }

    @Test
    void readsPartsOfSmallAndLargeFiles() throws IOException {
        byte[] large = new byte[3_000_001];
        new Random(1).nextBytes(large);
        made.append(Map.of("large", large, "small", Arrays.copyOf(large, 1000), "empty", new byte[0]));
        try (MountTree tree = newest()) {
            assertThat(read(tree, "/large")).isEqualTo(large);
            assertThat(read(tree, "/empty")).isEmpty();
            for (String name : List.of("large", "small")) {
                Node.File file = (Node.File) tree.find("/" + name).orElseThrow();
                try (OpenSample open = file.open()) {
                    for (int at : new int[] {700, 0, 999, (int) file.size() - 1}) {
                        ByteBuffer part = ByteBuffer.allocate(100);
                        int bytes = open.read(at, part);
                        assertThat(bytes).isEqualTo((int) Math.min(100, file.size() - at));
                        assertThat(Arrays.copyOf(part.array(), bytes))
                                .isEqualTo(Arrays.copyOfRange(large, at, at + bytes));
                    }
                    assertThat(open.read(file.size(), ByteBuffer.allocate(1))).isZero();
                    assertThat(open.read(Long.MAX_VALUE, ByteBuffer.allocate(1)))
                            .isZero();
                }
            }
        }
    }

    @Test
    void namesKeyChunkAndVersionOfADamagedSample() throws IOException {
        byte[] large = new byte[2_000_000];
        made.append(Map.of("cat/1", new byte[100]), Map.of("cat/2", new byte[100], "large", large));
        damage(0, 50);
        damage(1, 1_000_000);
        try (MountTree tree = newest()) {
            assertThatThrownBy(() -> read(tree, "/cat/1"))
                    .isInstanceOf(CorruptDataException.class)
                    .hasMessageContaining("'cat/1' in row 0 of chunk 0, version 1");
            assertThat(read(tree, "/cat/2")).hasSize(100);
            Node.File file = (Node.File) tree.find("/large").orElseThrow();
            try (OpenSample open = file.open()) {
                assertThatThrownBy(() -> open.read(0, ByteBuffer.allocate(10)))
                        .isInstanceOf(CorruptDataException.class);
            }
        }
    }

    /** Flips a bit of the payload of a chunk, at this offset. */
    private void damage(int ordinal, long offset) throws IOException {
        ChunkTable table = made.dataset().snapshot().table();
        Path file = directory.resolve(ChunkNames.path(table.id(ordinal)));
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            ByteBuffer one = ByteBuffer.allocate(1);
            long at = table.headLength(ordinal) + offset;
            channel.read(one, at);
            one.put(0, (byte) (one.get(0) ^ 1)).rewind();
            channel.write(one, at);
        }
    }

    @Test
    void followsTheNewestVersionWhileOpenFilesKeepTheirs() throws IOException {
        made.append(images("cat/1", "cat/2"));
        try (MountTree tree = open(store(), OptionalLong.empty(), OPTIONS.with(Duration.ofMillis(10)))) {
            try (OpenSample before = ((Node.File) tree.find("/cat/1").orElseThrow()).open()) {
                made.replace(Map.of("cat/1", new byte[5], "cat/3", new byte[1]));
                await(() -> list(tree, "/cat").equals(List.of("1", "3")));
                assertThat(uses()).containsExactlyInAnyOrder(1L, 2L);
                ByteBuffer content = ByteBuffer.allocate(100);
                assertThat(before.read(0, content)).isEqualTo("image of cat/1".length());
                assertThat(read(tree, "/cat/1")).hasSize(5);
            }
            await(() -> uses().equals(List.of(2L)));
        }
        assertThat(uses()).isEmpty();
    }

    /** A condition that may fail with an I/O error. */
    private interface Condition {
        boolean holds() throws IOException;
    }

    private static void await(Condition condition) throws IOException {
        while (!condition.holds()) {
            Thread.onSpinWait();
        }
    }

    private List<Long> uses() throws IOException {
        return new VersionUses(made.dataset())
                .all().stream().map(VersionUse::version).toList();
    }

    @Test
    void endsUsesAlsoOfFilesThatAreStillOpen() throws IOException {
        made.append(images("cat/1"));
        OpenSample left;
        try (MountTree tree = newest()) {
            left = ((Node.File) tree.find("/cat/1").orElseThrow()).open();
            assertThat(uses()).containsExactly(1L);
        }
        assertThat(uses()).isEmpty();
        left.close();
    }

    @Test
    void staysAtAPinnedVersion() throws IOException {
        made.append(images("cat/1"));
        made.append(images("cat/2"));
        try (MountTree tree = open(store(), OptionalLong.of(1), OPTIONS.with(Duration.ofMillis(1)))) {
            assertThat(tree.isImmutable()).isTrue();
            assertThat(list(tree, "/cat")).containsExactly("1");
            assertThat(uses()).containsExactly(1L);
        }
    }

    @Test
    void hasAllVersionsInAHiddenDirectory() throws IOException {
        made.append(images("cat/1"));
        made.replace(images("cat/2"));
        try (MountTree tree = newest()) {
            assertThat(list(tree, "/")).containsExactly("cat/");
            assertThat(list(tree, "/.stoker")).containsExactly("versions/");
            assertThat(list(tree, "/.stoker/versions")).containsExactly("1/", "2/");
            assertThat(readAll(tree, "/.stoker/versions/1")).containsOnlyKeys("/.stoker/versions/1/cat/1");
            assertThat(uses()).containsExactlyInAnyOrder(1L, 2L);
            for (String wrong : List.of("3", "0", "01", "x", "-1", "99999999999999999999")) {
                assertThat(tree.find("/.stoker/versions/" + wrong)).isEmpty();
            }
            assertThat(tree.find("/.stoker/other")).isEmpty();
        }
        assertThat(uses()).isEmpty();
        try (MountTree tree = open(store(), OptionalLong.empty(), OPTIONS.withVersions())) {
            assertThat(list(tree, "/")).containsExactly(".stoker/", "cat/");
        }
    }

    @Test
    void showsSeveralDatasetsInDirectories() throws IOException {
        made.append(images("cat/1"));
        made.append(images("cat/2"));
        List<MountedDataset> both = List.of(
                new MountedDataset("old", store(), OptionalLong.of(1), null),
                new MountedDataset("new", store(), OptionalLong.empty(), null));
        try (MountTree tree = MountTree.open(UUID.randomUUID(), both, OPTIONS)) {
            assertThat(list(tree, "/")).containsExactly("old/", "new/");
            assertThat(readAll(tree, "/")).containsOnlyKeys("/old/cat/1", "/new/cat/1", "/new/cat/2");
            assertThat(tree.isImmutable()).isFalse();
            assertThat(tree.find("/other")).isEmpty();
        }
    }

    @Test
    void refusesAFieldThatIsNoContent() throws IOException {
        made.append(images("cat/1"));
        List<MountedDataset> label = List.of(new MountedDataset("", store(), OptionalLong.empty(), "label"));
        assertThatThrownBy(() -> MountTree.open(UUID.randomUUID(), label, OPTIONS))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has no field label of bytes or text; choose image with --field");
        assertThat(uses()).isEmpty();
    }

    @Test
    void listsADirectoryOfManyFiles() throws IOException {
        Map<String, byte[]> many = new HashMap<>();
        IntStream.range(0, 5000).forEach(i -> many.put("d/" + i, new byte[i % 7]));
        made.append(many);
        try (MountTree tree = newest()) {
            assertThat(list(tree, "/d")).hasSize(5000).isSorted();
        }
    }
}
