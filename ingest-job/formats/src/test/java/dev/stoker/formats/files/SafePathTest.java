package dev.stoker.formats.files;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.testing.Rounds;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SafePathTest {
    @ParameterizedTest
    @CsvSource({
        "a/b.jpg,a/b.jpg",
        "../../etc/passwd,%2E./%2E./etc/passwd",
        "/etc/passwd,%/etc/passwd",
        "a//b/,a/%/b/%",
        "./a,%2E/a",
        "100%,100%25",
        "a\\b,a%5Cb",
        ".tmp-x/.tmp-y,%2Etmp-x/%2Etmp-y",
        "_SUCCESS,%5FSUCCESS",
        "a/_SUCCESS,a/_SUCCESS",
        "'',%",
    })
    void keysBecomePathsBelowTheDirectory(String key, String path) {
        assertThat(SafePath.of(key)).isEqualTo(path);
        assertThat(SafePath.keyOf(path)).isEqualTo(key);
    }

    @Test
    void anyKeyStaysBelowTheDirectoryAndComesBack(TestInfo test) {
        String alphabet = "/.%\\a\0\n\u007fü_2EC~";
        Map<String, String> keys = new HashMap<>();
        Rounds.of(test).seconds(0.5).atLeast(5_000).run((random, round) -> {
            StringBuilder key = new StringBuilder();
            for (int n = random.nextInt(8); n > 0; n--) {
                key.append(alphabet.charAt(random.nextInt(alphabet.length())));
            }
            String path = SafePath.of(key.toString());
            assertThat(SafePath.keyOf(path)).as("path %s", path).isEqualTo(key.toString());
            Path root = Path.of("/top/of/all");
            Path file = root.resolve(path);
            assertThat(file.normalize()).as("key %s", key).isEqualTo(file);
            assertThat(file.startsWith(root)).as("key %s", key).isTrue();
            String before = keys.put(path, key.toString());
            assertThat(before).isIn(null, key.toString());
        });
    }

    @Test
    void longPartsAreFound() {
        assertThat(SafePath.isTooLong("a".repeat(255) + "/" + "b".repeat(255))).isFalse();
        assertThat(SafePath.isTooLong("a/" + "ü".repeat(128))).isTrue();
    }
}
