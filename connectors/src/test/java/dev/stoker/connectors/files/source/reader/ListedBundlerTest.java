package dev.stoker.connectors.files.source.reader;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.connectors.files.FileEntries;
import dev.stoker.connectors.files.FileEntry;
import dev.stoker.connectors.files.PathBundle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class ListedBundlerTest {

    private static final long[] NO_SIDECARS = {};

    private final List<PathBundle> bundles = new ArrayList<>();
    private final ListedBundler bundler = new ListedBundler(bundles::add);

    @Test
    void keepsDirectoriesApartThatAreListedAtOnce() {
        for (int i = 0; i < 1000; i++) {
            add("a", String.format("%04d", i));
            if (i < 500) {
                add("b", String.format("%04d", i));
            }
            if (i == 500) {
                bundler.endDirectory("b");
            }
        }
        bundler.endDirectory("a");
        bundler.flush();

        Map<String, List<String>> keys = new TreeMap<>();
        bundles.sort((x, y) -> x.place() - y.place());
        for (PathBundle bundle : bundles) {
            List<FileEntry> files = new ArrayList<>();
            FileEntries.decode(bundle, files);
            files.forEach(file -> keys.computeIfAbsent(new String(bundle.directory(), UTF_8), d -> new ArrayList<>())
                    .add(new String(file.key(), UTF_8)));
        }
        assertThat(keys.get("a")).hasSize(1000).isSorted().allMatch(key -> key.startsWith("a/"));
        assertThat(keys.get("b")).hasSize(500).isSorted().allMatch(key -> key.startsWith("b/"));
    }

    @Test
    void numbersTheRunsOfADirectory() {
        for (int i = 0; i < 1000; i++) {
            add("a", String.format("%04d", i));
        }
        bundler.endDirectory("a");

        assertThat(bundles).hasSizeGreaterThan(2);
        for (int i = 0; i < bundles.size(); i++) {
            assertThat(bundles.get(i).place()).isEqualTo(i);
            assertThat(bundles.get(i).data().length).isLessThan(2 * Bundler.BUNDLE_BYTES);
        }
    }

    @Test
    void handsOnADirectoryThatDidNotEnd() {
        add("a", "1");
        bundler.flush();

        assertThat(bundles)
                .singleElement()
                .satisfies(bundle -> assertThat(bundle.count()).isOne());
    }

    private void add(String directory, String name) {
        byte[] key = Arrays.copyOf((directory + "/" + name).getBytes(UTF_8), 64);
        bundler.add(directory, key, directory.length() + 1 + name.length(), 1, 0, NO_SIDECARS);
    }
}
