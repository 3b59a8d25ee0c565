package dev.stoker.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.testing.Rounds;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SamplePathsTest {

    private static final List<String> PIECES = List.of(
            "/", "/", ".", "..", "%", "%2E", "%%", ":", "\\", " ", "\0", "\n", "a", "B", "é", "😀", "*", "?", "{a,b}",
            "[", "~", "+", "#", "s3a:", "\u007f", "\u0085", "\u2028");

    @ParameterizedTest
    @CsvSource({
        "train/n01/1.jpg, /train/n01/1.jpg",
        "a b/ü.jpg, /a b/ü.jpg",
        "../../etc/passwd, /%2E%2E/%2E%2E/etc/passwd",
        "/etc/passwd, /%/etc/passwd",
        "a//b/, /a/%/b/%",
        "a/./b, /a/%2E/b",
        "s3a://x, /s3a%3A/%/x",
        "100%, /100%25",
        "C:\\x, /C%3A%5Cx",
        "'', /%",
        "' a ', /%20a%20",
        "...hidden, /...hidden"
    })
    void aKeyHasThePath(String key, String path) {
        assertThat(SamplePaths.ofKey(key)).isEqualTo(path);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/a%", "/%%", "/d/a%", "/a%25%"})
    void aPercentSignAtTheEndIsAFileBesideADirectory(String path) {
        SamplePaths.Meaning meaning = SamplePaths.parse(path);

        assertThat(meaning.isBesideDirectory()).isTrue();
        assertThat(SamplePaths.ofKeyBesideDirectory(meaning.key())).isEqualTo(path);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/a%2e", "/%41", "/a%2E", "/a%%", "/%%%", "/a%/b", "/a%2", "/a%zz", "/.", "/a:b", "/a\\b", "/a ",
                "/%C3%A9", "/\uD800"
            })
    void otherSpellingsOfAKeyAreNoPaths(String path) {
        assertThat(SamplePaths.parse(path)).isNull();
    }

    @Test
    void eachKeyHasOnePathThatHadoopKeeps(TestInfo test) {
        Map<String, String> keys = new HashMap<>();
        Rounds.of(test).seconds(0.5).atLeast(1_500).run((random, round) -> {
            StringBuilder text = new StringBuilder();
            for (int n = random.nextInt(7); n > 0; n--) {
                text.append(PIECES.get(random.nextInt(PIECES.size())));
            }
            String key = text.toString();

            for (String written : List.of(SamplePaths.ofKey(key), SamplePaths.ofKeyBesideDirectory(key))) {
                Path path = new Path(new Path("stoker", "photos@3", written).toString());
                assertThat(path.toUri().getPath()).isEqualTo(written);
                assertThat(path.toUri().getAuthority()).isEqualTo("photos@3");
                assertThat(new Path(path.getParent(), path.getName())).isEqualTo(path);

                assertThat(new Path(path.toUri())).isEqualTo(path);
                assertThat(keys.putIfAbsent(written, key)).isIn(null, key);
                assertThat(SamplePaths.parse(written).key()).isEqualTo(key);
            }
            assertThat(SamplePaths.parse(SamplePaths.ofKey(key)).isBesideDirectory())
                    .isFalse();
        });
    }
}
