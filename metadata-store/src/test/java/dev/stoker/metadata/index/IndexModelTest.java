package dev.stoker.metadata.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.index.build.BuildThreads;
import dev.stoker.metadata.index.build.IndexBuild;
import dev.stoker.metadata.index.run.IndexRange;
import dev.stoker.schemas.testing.Rounds;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** Random histories of a dataset, its index and damage to it, against maps of keys. */
class IndexModelTest {

    private static final Comparator<String> BYTES =
            (a, b) -> Arrays.compareUnsigned(IndexedDataset.utf8(a), IndexedDataset.utf8(b));

    @TempDir
    private Path directory;

    /** Of the round that runs. */
    private Random random;

    @Test
    void theIndexEqualsAFullScanOfALocalDataset(TestInfo test) {
        Rounds.of(test).seconds(1).run((drawn, round) -> {
            random = drawn;
            try (ObjectStore store = new LocalObjectStore(Files.createTempDirectory(directory, "round"))) {
                run(store);
            }
        });
    }

    @Test
    void theIndexEqualsAFullScanOfARemoteDataset(TestInfo test) {
        Rounds.of(test).seconds(1).run((drawn, round) -> {
            random = drawn;
            try (ObjectStore store = new InMemoryObjectStore()) {
                run(store);
            }
        });
    }

    private void run(ObjectStore store) throws Exception {
        IndexedDataset dataset = IndexedDataset.create(store);
        List<SampleIndex> readers = new ArrayList<>();
        for (int step = 0; step < 60; step++) {
            switch (random.nextInt(8)) {
                case 0, 1, 2 -> dataset.append(newSamples(dataset));
                case 3 -> {
                    List<String> keys = someKeys(dataset);
                    if (!keys.isEmpty()) {
                        dataset.remove(keys);
                    }
                }
                case 4 -> dataset.compact(random);
                case 5 -> {
                    if (random.nextInt(4) == 0) {
                        dataset.replace(newSamples(dataset));
                    }
                }
                case 6 -> damage(store);
                default -> build(dataset);
            }
            if (dataset.version() == 0) {
                continue;
            }
            long version = 1L + random.nextInt((int) dataset.version());
            SampleIndex index =
                    SampleIndex.open(dataset.dataset(), dataset.dataset().snapshot(version));
            compare(index, dataset.samples(version));
            readers.add(index);
            // Builds and later versions do not disturb a reader.
            SampleIndex older = readers.get(random.nextInt(readers.size()));
            compare(older, dataset.samples(older.version()));
        }
        IndexBuild.Result result = update(dataset);
        assertThat(result.runs()).isLessThanOrEqualTo(3);
        for (long version = 1; version <= dataset.version(); version++) {
            SampleIndex index =
                    SampleIndex.open(dataset.dataset(), dataset.dataset().snapshot(version));
            assertThat(index.chunksWithoutRun()).isZero();
            compare(index, dataset.samples(version));
        }
    }

    private static IndexBuild.Result update(IndexedDataset dataset) throws Exception {
        return new IndexBuild(dataset.dataset(), BuildThreads.ofCaller(), read -> {}).update();
    }

    private void build(IndexedDataset dataset) throws Exception {
        BuildThreads threads = random.nextBoolean() ? BuildThreads.ofCaller() : new BuildThreads(Runnable::run, 1, 1);
        IndexBuild build = new IndexBuild(dataset.dataset(), threads, read -> {});
        if (random.nextInt(4) == 0) {
            build.rebuild();
        } else {
            build.update();
        }
    }

    private void damage(ObjectStore store) throws IOException {
        List<String> runs = store.list("_stoker/index/").toList().stream()
                .map(ObjectInfo::name)
                .toList();
        if (runs.isEmpty()) {
            return;
        }
        String run = runs.get(random.nextInt(runs.size()));
        assertThat(IndexRange.ofName(run)).isPresent();
        byte[] content = store.readAll(run, Integer.MAX_VALUE);
        store.delete(run);
        switch (random.nextInt(3)) {
            case 0 -> content[random.nextInt(content.length)] ^= (byte) (1 << random.nextInt(8));
            case 1 -> content = Arrays.copyOf(content, random.nextInt(content.length));
            default -> {
                return;
            }
        }
        store.createIfAbsent(run, content);
    }

    private Map<String, byte[]> newSamples(IndexedDataset dataset) {
        Map<String, byte[]> samples = new TreeMap<>();
        Map<String, byte[]> present = dataset.samples(dataset.version());
        for (int n = 1 + random.nextInt(30); n > 0; n--) {
            String key = key();
            if (!present.containsKey(key)) {
                byte[] image = new byte[random.nextInt(50)];
                random.nextBytes(image);
                samples.put(key, image);
            }
        }
        return samples;
    }

    private String key() {
        String[] parts = {"a", "b/", "/", "ü", "😀", "..", "\n", "\0", "ab", "c/d"};
        StringBuilder key = new StringBuilder(parts[random.nextInt(parts.length)]);
        for (int n = random.nextInt(4); n > 0; n--) {
            key.append(parts[random.nextInt(parts.length)]);
        }
        return key.toString();
    }

    private List<String> someKeys(IndexedDataset dataset) {
        List<String> keys = new ArrayList<>();
        for (String key : dataset.samples(dataset.version()).keySet()) {
            if (random.nextInt(5) == 0) {
                keys.add(key);
            }
        }
        return keys;
    }

    private void compare(SampleIndex index, Map<String, byte[]> expected) throws IOException {
        List<String> keys = new ArrayList<>(expected.keySet());
        for (int n = 0; n < 20; n++) {
            keys.add(key());
        }
        List<Optional<StoredSample>> samples = index.get(keys);
        for (int i = 0; i < keys.size(); i++) {
            String key = keys.get(i);
            byte[] image = expected.get(key);
            Optional<SampleStat> stat = index.stat(key);
            assertThat(stat.isPresent()).as(key).isEqualTo(image != null);
            assertThat(samples.get(i).map(StoredSample::stat)).isEqualTo(stat);
            if (image != null) {
                // The class of the label has 4 bytes.
                assertThat(stat.orElseThrow().length()).isEqualTo(4 + image.length);
                byte[] read = new byte[image.length];
                samples.get(i).orElseThrow().payload(1).get(read);
                assertThat(read).isEqualTo(image);
            }
        }
        for (String prefix : List.of("", "a", key())) {
            for (String delimiter : List.of("", "/", "b/")) {
                assertThat(list(index, prefix, delimiter))
                        .as("list '%s' '%s'", prefix, delimiter)
                        .isEqualTo(expectedList(expected, prefix, delimiter));
            }
        }
    }

    private static List<String> list(SampleIndex index, String prefix, String delimiter) throws IOException {
        List<String> names = new ArrayList<>();
        SampleListing listing = index.list(prefix, delimiter);
        for (Optional<ListEntry> entry = listing.next(); entry.isPresent(); entry = listing.next()) {
            names.add(
                    (entry.get().isPrefix() ? "prefix " : "key ") + entry.get().name());
        }
        return names;
    }

    private static List<String> expectedList(Map<String, byte[]> samples, String prefix, String delimiter) {
        return samples.keySet().stream()
                .filter(key -> key.startsWith(prefix))
                .sorted(BYTES)
                .map(key -> {
                    int at = delimiter.isEmpty() ? -1 : key.indexOf(delimiter, prefix.length());
                    return at < 0 ? "key " + key : "prefix " + key.substring(0, at + delimiter.length());
                })
                .distinct()
                .toList();
    }
}
