package dev.stoker.connectors.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.files.source.enumerator.FileTreeState;
import dev.stoker.connectors.files.source.enumerator.FileTreeStateSerializer;
import dev.stoker.connectors.files.source.event.WalkEvent;
import dev.stoker.connectors.files.source.reader.ShuffledBundler;
import dev.stoker.connectors.files.source.split.DirectorySplit;
import dev.stoker.connectors.files.source.split.DirectorySplitSerializer;
import dev.stoker.schemas.testing.Rounds;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

class SerializersTest {

    private static final DirectorySplit SPLIT = new DirectorySplit(
            "a/\u00e4\u4e16/c", List.of(new DirectorySplit.Jump("/x", "/x/y"), new DirectorySplit.Jump("/z", "/z")));

    @Test
    void splitsSurvive() throws IOException {
        DirectorySplitSerializer serializer = DirectorySplitSerializer.INSTANCE;

        assertThat(serializer.deserialize(1, serializer.serialize(SPLIT))).isEqualTo(SPLIT);
        assertThat(serializer.deserialize(1, serializer.serialize(DirectorySplit.ROOT)))
                .isEqualTo(DirectorySplit.ROOT);
        assertThatThrownBy(() -> serializer.deserialize(2, serializer.serialize(SPLIT)))
                .hasMessageContaining("version 2");
    }

    @Test
    void theStateOfAWalkSurvives() throws IOException {
        FileTreeState state = new FileTreeState(List.of(SPLIT, DirectorySplit.ROOT), Set.of("a", "b"));
        FileTreeStateSerializer serializer = FileTreeStateSerializer.INSTANCE;

        assertThat(serializer.deserialize(1, serializer.serialize(state))).isEqualTo(state);
    }

    @Test
    void eventsSurvive() {
        List<WalkEvent.Listed> listed =
                List.of(new WalkEvent.Listed("a", List.of(SPLIT)), new WalkEvent.Listed("b", List.of()));

        assertThat(WalkEvent.of(listed))
                .singleElement()
                .satisfies(event -> assertThat(event.parts())
                        .containsExactly(
                                new WalkEvent.Part("a", List.of(SPLIT), true),
                                new WalkEvent.Part("b", List.of(), true)));
    }

    @Test
    void aDirectoryWithManySubdirectoriesIsReportedInEventsThatTheTransportCarries() {
        List<DirectorySplit> found = IntStream.range(0, 420_000)
                .mapToObj(i -> new DirectorySplit("directory-" + (1_000_000_000 + i), List.of()))
                .toList();
        List<WalkEvent> events =
                WalkEvent.of(List.of(new WalkEvent.Listed("", found), new WalkEvent.Listed("x", List.of())));

        assertThat(events).allMatch(event -> event.length() < 2 << 20);
        List<WalkEvent.Part> parts =
                events.stream().flatMap(event -> event.parts().stream()).toList();
        assertThat(parts.stream()
                        .filter(part -> part.path().isEmpty())
                        .flatMap(part -> part.found().stream())
                        .toList())
                .isEqualTo(found);
        assertThat(parts.stream().filter(WalkEvent.Part::isLast).map(WalkEvent.Part::path))
                .containsExactly("", "x");
    }

    @Test
    void bundlesSurvive() throws IOException {
        PathBundle bundle =
                new PathBundle(PathBundle.Kind.TAKEN, 4095, new byte[] {1, 2}, 7, 1L << 40, new byte[] {3, 4, 5});
        DataOutputSerializer out = new DataOutputSerializer(8);
        PathBundleSerializer.INSTANCE.serialize(bundle, out);
        DataOutputSerializer copied = new DataOutputSerializer(8);
        PathBundleSerializer.INSTANCE.copy(new DataInputDeserializer(out.getCopyOfBuffer()), copied);

        for (byte[] bytes : List.of(out.getCopyOfBuffer(), copied.getCopyOfBuffer())) {
            PathBundle read = PathBundleSerializer.INSTANCE.deserialize(new DataInputDeserializer(bytes));
            assertThat(read).usingRecursiveComparison().isEqualTo(bundle);
        }
    }

    @Test
    void entriesSurvive() {
        List<FileEntry> files = List.of(
                new FileEntry("a/\u00e4.jpg".getBytes(StandardCharsets.UTF_8), 0, -1, new long[0]),
                new FileEntry(new byte[] {'x'}, Long.MAX_VALUE >> 1, 1_700_000_000_000L, new long[] {-1, 0, 200}));
        List<PathBundle> bundles = new ArrayList<>();
        ShuffledBundler bundler = new ShuffledBundler(5, PathBundle.Kind.FILES, bundles::add);
        files.forEach(f -> bundler.add("", f.key(), f.key().length, f.size(), f.modifiedMs(), f.sidecars()));
        bundler.flush();

        List<FileEntry> read = new ArrayList<>();
        bundles.forEach(bundle -> FileEntries.decode(bundle, read));

        assertThat(read).usingRecursiveFieldByFieldElementComparator().containsExactlyInAnyOrderElementsOf(files);
        assertThat(bundles).allSatisfy(bundle -> assertThat(bundle.count()).isEqualTo(1));
    }

    @Test
    void countsSurvive() throws IOException {
        SkipCounts counts = new SkipCounts();
        counts.add(FileSkip.HIDDEN, "b");
        counts.add(FileSkip.HIDDEN, "a");
        counts.add(FileSkip.LOOP, "l");

        SkipCounts read = SkipCounts.fromBytes(counts.toBytes());

        assertThat(read.byReason()).isEqualTo(counts.byReason());
        assertThat(read.example(FileSkip.HIDDEN)).contains("a");
    }

    @Test
    void listedKeysSortAsATreeIsWalked(TestInfo test) {
        Rounds.of(test).seconds(0.2).atLeast(5).run((random, round) -> listedKeysSortAsATreeIsWalked(random));
    }

    private static void listedKeysSortAsATreeIsWalked(Random random) {
        String[] parts = {"a", "ab", "b", "\u00e4", "\u4e16", "a b", "A", "!", "0"};
        List<String> directories = new ArrayList<>(List.of(""));
        for (int i = 0; i < 300; i++) {
            StringBuilder path = new StringBuilder(parts[random.nextInt(parts.length)]);
            while (random.nextBoolean()) {
                path.append('/').append(parts[random.nextInt(parts.length)]);
            }
            directories.add(path.toString());
        }
        List<String> byKey = directories.stream()
                .distinct()
                .sorted(Comparator.comparing(SerializersTest::keyOf, (x, y) -> Arrays.compare(x, y)))
                .toList();
        List<String> byParts = directories.stream()
                .distinct()
                .sorted(SerializersTest::compareParts)
                .toList();

        assertThat(byKey).isEqualTo(byParts);
    }

    private static byte[] keyOf(String directory) {
        DataOutputSerializer out = new DataOutputSerializer(64);
        try {
            ListedKeySerializer.INSTANCE.serialize(new ListedKey(ListedKey.sortable(directory), 3), out);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        // Flink compares signed bytes, as Arrays.compare does.
        return out.getCopyOfBuffer();
    }

    private static int compareParts(String x, String y) {
        String[] a = x.isEmpty() ? new String[0] : x.split("/");
        String[] b = y.isEmpty() ? new String[0] : y.split("/");
        for (int i = 0; i < Math.min(a.length, b.length); i++) {
            int order = Arrays.compareUnsigned(
                    a[i].getBytes(StandardCharsets.UTF_8), b[i].getBytes(StandardCharsets.UTF_8));
            if (order != 0) {
                return order;
            }
        }
        return Integer.compare(a.length, b.length);
    }

    @Test
    void runsOfADirectorySortByNumber() throws IOException {
        byte[] before = null;
        for (int run : new int[] {0, 1, 127, 128, 255, 256, 65535, 1 << 24}) {
            DataOutputSerializer out = new DataOutputSerializer(64);
            ListedKeySerializer.INSTANCE.serialize(new ListedKey(ListedKey.sortable("a/b"), run), out);
            if (before != null) {
                assertThat(Arrays.compare(before, out.getCopyOfBuffer())).isNegative();
            }
            before = out.getCopyOfBuffer();
        }
    }
}
