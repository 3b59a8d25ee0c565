package dev.stoker.mount.tree;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.testing.Rounds;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FileNamesTest {

    @ParameterizedTest
    @ValueSource(strings = {"cats/1.jpg", "100%.jpg", "a%20b", "a\\b", "two\nlines", ".hidden", "...", "%", "ä/日本/😀"})
    void keepsNamesThatFileSystemsAllow(String key) {
        assertThat(String.join("/", FileNames.pathOf(key))).isEqualTo(key);
    }

    @Test
    void escapesNamesThatFileSystemsForbid() {
        assertThat(FileNames.pathOf("../a")).containsExactly("%=..", "a");
        assertThat(FileNames.pathOf("/a//b/")).containsExactly("%=", "a", "%=", "b", "%=");
        assertThat(FileNames.pathOf("a\0%b")).containsExactly("%=a%00%25b");
        assertThat(FileNames.pathOf(".stoker/x")).containsExactly("%=.stoker", "x");
        assertThat(FileNames.pathOf("%=x")).containsExactly("%=%25=x");
        assertThat(FileNames.pathOf("%+x/%~y")).containsExactly("%=%25+x", "%=%25~y");
    }

    @Test
    void splitsLongNamesIntoDirectories() {
        String part = "ä".repeat(300);
        List<String> path = FileNames.pathOf("d/" + part);
        assertThat(path).hasSize(4);
        assertThat(path.get(1)).startsWith("%~ä");
        assertThat(path)
                .allSatisfy(name ->
                        assertThat(name.getBytes(StandardCharsets.UTF_8)).hasSizeLessThanOrEqualTo(255));
        assertThat(FileNames.decode(path)).contains(new FileNames.Decoded("d/" + part, FileNames.Kind.ANY));
        assertThat(FileNames.pathOf("x".repeat(255))).containsExactly("x".repeat(255));
        assertThat(FileNames.pathOf("x".repeat(256))).hasSize(2);
    }

    @Test
    void decodesDirectories() {
        assertThat(FileNames.decode(List.of("a", "%+b"))).contains(new FileNames.Decoded("a/b", FileNames.Kind.TWIN));
        assertThat(FileNames.decode(List.of("%+a", "b"))).contains(new FileNames.Decoded("a/b", FileNames.Kind.ANY));
        assertThat(FileNames.decode(List.of("a", "%~b"))).contains(new FileNames.Decoded("a/b", FileNames.Kind.PIECE));
    }

    @ParameterizedTest
    @ValueSource(strings = {"%=a", "%=%2E", "%=%", "%=a%0", "%+a%", "%~short/rest", "%=%41"})
    void hasOnlyOnePathForAKey(String path) {
        assertThat(FileNames.decode(List.of(path.split("/", -1)))).isEmpty();
    }

    @Test
    void turnsEachKeyIntoAPathOfItsOwnAndBack(TestInfo test) {
        String[] pieces = {
            "a", "%", "=", "+", "~", "/", ".", "..", "\0", "\\", "%=", ".stoker", "ß", "😀", "x".repeat(200)
        };
        Map<List<String>, String> keys = new HashMap<>();
        Rounds.of(test).seconds(0.5).atLeast(5_000).run((random, round) -> {
            StringBuilder built = new StringBuilder();
            for (int n = random.nextInt(8); n >= 0; n--) {
                built.append(pieces[random.nextInt(pieces.length)]);
            }
            String key = built.toString();
            List<String> path = FileNames.pathOf(key);
            assertThat(path)
                    .as("key %s", key)
                    .noneMatch(
                            name -> name.isEmpty() || name.equals(".") || name.equals("..") || name.equals(".stoker"))
                    .noneMatch(name -> name.indexOf('/') >= 0 || name.indexOf('\0') >= 0 || FileNames.isTooLong(name));
            assertThat(FileNames.decode(path))
                    .as("key %s", key)
                    .contains(new FileNames.Decoded(key, FileNames.Kind.ANY));
            assertThat(keys.computeIfAbsent(path, known -> key)).isEqualTo(key);
        });
    }
}
