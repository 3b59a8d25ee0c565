package dev.stoker.schemas.path;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.testing.KeyPathVectors;
import dev.stoker.schemas.testing.Rounds;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

class KeyPathsTest {

    private static final List<String> PIECES = List.of(
            "/",
            "/",
            "a",
            "B",
            ".",
            "..",
            "%",
            "%-",
            "%2E",
            "%%",
            ":",
            "\\",
            " ",
            "\0",
            "\n",
            "\u007f",
            "\u0085",
            "é",
            "e\u0301",
            "日",
            "😀",
            ".tmp-",
            ".stoker",
            "_SUCCESS",
            "_EXPORTING",
            "x".repeat(240),
            "%".repeat(80),
            " ".repeat(83),
            "😀".repeat(61));

    @Test
    void keysHaveThePathsOfTheVectors() throws IOException {
        Map<String, String> alone = KeyPathVectors.alone();
        assertThat(alone)
                .isNotEmpty()
                .allSatisfy((key, path) -> assertThat(KeyPaths.of(key)).isEqualTo(path));
        for (Map<String, String> keys : List.of(alone, KeyPathVectors.beside())) {
            DirectoryPaths paths = new DirectoryPaths(keys::containsKey);
            for (String key : keys.keySet()) {
                assertThat(paths.of(key)).isEqualTo(keys.get(key));
                assertThat(KeyPaths.keyOf(keys.get(key))).contains(key);
            }
        }
    }

    @Test
    void otherTextsAreThePathsOfNoKey() {
        assertThat(KeyPathVectors.none())
                .isNotEmpty()
                .allSatisfy(path -> assertThat(KeyPaths.keyOf(path)).isEmpty());
        assertThat(KeyPaths.keyOf("a\uD800")).isEmpty();
        assertThat(KeyPaths.keyOf("\uDE00\uD83D")).isEmpty();
    }

    @Test
    void textThatIsNoUnicodeHasNoPath() {
        assertThatThrownBy(() -> KeyPaths.of("a/\uD83D"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("unpaired surrogate");
    }

    private static String key(Random random) {
        StringBuilder key = new StringBuilder();
        for (int n = random.nextInt(7); n > 0; n--) {
            key.append(PIECES.get(random.nextInt(PIECES.size())));
        }
        return key.toString();
    }

    @Test
    void eachKeyHasAPathThatStaysBelowItsDirectoryAndComesBack(TestInfo test) {
        Map<String, String> keys = new HashMap<>();
        Rounds.of(test).seconds(0.5).atLeast(3_000).run((random, round) -> {
            String key = key(random);
            String path = KeyPaths.of(key);
            assertThat(KeyPaths.keyOf(path)).contains(key);
            assertThat(keys.computeIfAbsent(path, known -> key)).isEqualTo(key);
            assertThat(path.split("/", -1)).allSatisfy(name -> {
                assertThat(name.getBytes(StandardCharsets.UTF_8)).hasSizeBetween(1, KeyPaths.MAX_BYTES);
                assertThat(name)
                        .isNotIn(".", "..")
                        .doesNotStartWith(".tmp-")
                        .doesNotStartWith(" ")
                        .doesNotEndWith(" ")
                        .doesNotContainPattern("[\\x00-\\x1f\\x7f:\\\\]");
            });
            assertThat(path).doesNotMatch("(\\.stoker|_SUCCESS|_EXPORTING)(/.*)?");
            Path root = Path.of("/top/of/all");
            assertThat(root.resolve(path).normalize())
                    .isEqualTo(root.resolve(path))
                    .startsWithRaw(root);
        });
    }

    /** The files and directories of a dataset could be made in a file system: no name is both or stands for two. */
    @Test
    void theKeysOfADatasetAreATree(TestInfo test) {
        Rounds.of(test).seconds(0.5).atLeast(300).run((random, round) -> {
            Set<String> keys = new HashSet<>();
            for (int n = random.nextInt(12); n >= 0; n--) {
                String key = key(random);
                keys.add(key);
                int slash = key.indexOf('/');
                if (slash >= 0 && random.nextBoolean()) {
                    keys.add(key.substring(0, slash));
                }
            }
            DirectoryPaths paths = new DirectoryPaths(keys::contains);
            Map<String, String> directories = new HashMap<>();
            Set<String> files = new HashSet<>();
            for (String key : keys) {
                List<String> names = paths.file(key);
                assertThat(files.add(String.join("/", names))).as("key %s", key).isTrue();
                assertThat(KeyPaths.keyOf(String.join("/", names))).contains(key);
                for (int n = 1; n < names.size(); n++) {
                    List<String> directory = names.subList(0, n);
                    String text = KeyPaths.decode(directory).orElseThrow().toString();
                    assertThat(directories.putIfAbsent(String.join("/", directory), text))
                            .isIn(null, text);
                }
            }
            assertThat(directories.keySet().stream().filter(files::contains)).isEmpty();
        });
    }

    @Test
    void remembersOnlySomeDirectories() throws IOException {
        List<String> asked = new ArrayList<>();
        DirectoryPaths paths = new DirectoryPaths(key -> {
            asked.add(key);
            return key.equals("a");
        });
        assertThat(paths.of("a/b/1")).isEqualTo("a%/b/1");
        assertThat(paths.of("a/b/2")).isEqualTo("a%/b/2");
        assertThat(paths.directory("a/b")).containsExactly("a%", "b");
        assertThat(asked).containsExactly("a", "a/b");
        for (int i = 0; i < 20_000; i++) {
            assertThat(paths.of("d" + i + "/" + "x".repeat(50) + "/1")).startsWith("d" + i + "/x");
        }
        asked.clear();
        assertThat(paths.of("a/b/3")).isEqualTo("a%/b/3");
        assertThat(asked).containsExactly("a", "a/b");
        assertThat(paths.of("/".repeat(10_000))).hasSize(20_001);
    }
}
