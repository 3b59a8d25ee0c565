package dev.stoker.metadata.files;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.schemas.path.DirectoryPaths;
import dev.stoker.schemas.testing.KeyPathVectors;
import dev.stoker.schemas.testing.Rounds;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

class KeyTreeTest {

    private static final List<String> PIECES =
            List.of("/", "/", "a", "b", "..", "%", ":", ".txt", "x".repeat(246), "😀", " ", "y".repeat(20));

    private static KeyTree files(Collection<String> keys) throws IOException {
        InMemoryObjectStore store = new InMemoryObjectStore();
        Dataset dataset = Dataset.create(store, SampleDatasets.info());
        var chunk = SampleDatasets.write(store, SampleDatasets.id(1), "i", "train", keys.toArray(String[]::new));
        SampleDatasets.committer(dataset).commit(VersionRequest.append("i", List.of(chunk), Map.of(), Map.of()));
        return new KeyTree(SampleIndex.open(dataset, dataset.snapshot()));
    }

    /** Returns the keys of all files by path. Finds each entry by its path, too. */
    private static Map<String, String> walk(KeyTree files, SampleDirectory directory) throws IOException {
        Map<String, String> found = new HashMap<>();
        Set<String> names = new HashSet<>();
        SampleDirectory.Entries entries = directory.list();
        for (Optional<SamplePath> next = entries.next(); next.isPresent(); next = entries.next()) {
            SamplePath entry = next.get();
            assertThat(names.add(entry.name())).as("name %s", entry.name()).isTrue();
            KeyTree.Found again = files.find(entry.names()).orElseThrow();
            if (again instanceof KeyTree.Found.File file) {
                assertThat(entry.sample()).contains(file.sample());
                found.put(String.join("/", entry.names()), file.sample().key());
            } else if (again instanceof KeyTree.Found.Directory below) {
                assertThat(entry.isDirectory()).isTrue();
                found.putAll(walk(files, below.directory()));
            }
        }
        return found;
    }

    private static Map<String, String> all(SampleDirectory directory) throws IOException {
        Map<String, String> found = new HashMap<>();
        SampleDirectory.Entries entries = directory.listAll();
        for (Optional<SamplePath> next = entries.next(); next.isPresent(); next = entries.next()) {
            found.put(
                    String.join("/", next.get().names()),
                    next.get().sample().orElseThrow().key());
        }
        return found;
    }

    @Test
    void keysAreTheFilesOfTheVectors() throws IOException {
        for (Map<String, String> paths : List.of(KeyPathVectors.alone(), KeyPathVectors.beside())) {
            KeyTree files = files(paths.keySet());
            Map<String, String> expected = new HashMap<>();
            paths.forEach((key, path) -> expected.put(path, key));
            assertThat(walk(files, files.root())).isEqualTo(expected);
            assertThat(all(files.root())).isEqualTo(expected);
        }
    }

    @Test
    void aNameThatNoListingHasIsNotFound() throws IOException {
        KeyTree files = files(KeyPathVectors.beside().keySet());
        List<String> wrong = new ArrayList<>(KeyPathVectors.none());
        wrong.addAll(List.of("a/b", "a%/b/c", "b", "a.txt%", "d%", "a%/b%/c%", "d/" + "x".repeat(247) + "%-/x"));
        for (String path : wrong) {
            if (!List.of("a%", "_SUCCESS%").contains(path)) {
                assertThat(files.find(List.of(path.split("/", -1)))).as(path).isEmpty();
            }
        }
    }

    @Test
    void eachSampleHasOnePath(TestInfo test) {
        Rounds.of(test).seconds(1).atLeast(50).run((random, round) -> {
            Set<String> keys = new HashSet<>();
            for (int n = random.nextInt(20); n >= 0; n--) {
                StringBuilder key = new StringBuilder();
                for (int m = random.nextInt(8); m > 0; m--) {
                    key.append(PIECES.get(random.nextInt(PIECES.size())));
                }
                keys.add(key.isEmpty() ? "a" : key.toString());
            }
            try {
                KeyTree files = files(keys);
                DirectoryPaths paths = new DirectoryPaths(keys::contains);
                Map<String, String> expected = new HashMap<>();
                for (String key : keys) {
                    expected.put(paths.of(key), key);
                }
                assertThat(walk(files, files.root())).isEqualTo(expected);
                assertThat(all(files.root())).isEqualTo(expected);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }
}
