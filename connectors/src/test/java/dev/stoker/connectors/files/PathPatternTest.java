package dev.stoker.connectors.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PathPatternTest {
    private static boolean matches(String pattern, String path) {
        return PathPattern.of(pattern).matches(path);
    }

    @Test
    void starsAndQuestionMarksStayWithinAName() {
        assertThat(matches("*.jpg", "a.jpg")).isTrue();
        assertThat(matches("*.jpg", "a/b.jpg")).isFalse();
        assertThat(matches("a?c", "abc")).isTrue();
        assertThat(matches("a?c", "a/c")).isFalse();
        assertThat(matches("day=*/x", "day=2/x")).isTrue();
    }

    @Test
    void twoStarsCrossDirectoriesAndAlsoNone() {
        assertThat(matches("**.jpg", "a/b.jpg")).isTrue();
        assertThat(matches("**/*.jpg", "b.jpg")).isTrue();
        assertThat(matches("**/*.jpg", "a/c/b.jpg")).isTrue();
        assertThat(matches("a/**/b", "a/b")).isTrue();
        assertThat(matches("a/**/b", "a/x/y/b")).isTrue();
        assertThat(matches("a/**/b", "ab")).isFalse();
        assertThat(matches("raw/**", "raw/a/b")).isTrue();
        assertThat(matches("raw/**", "raws/a")).isFalse();
    }

    @Test
    void bracketsBracesAndBackslashes() {
        assertThat(matches("[a-c]x", "bx")).isTrue();
        assertThat(matches("[!a-c]x", "bx")).isFalse();
        assertThat(matches("[!a]", "/")).isFalse();
        assertThat(matches("x.{csv,t[sz]v}", "x.tsv")).isTrue();
        assertThat(matches("a\\[1\\]", "a[1]")).isTrue();
        assertThat(matches("a,b}", "a,b}")).isTrue();
        for (String path : List.of("a.b", "a+b", "a(b)", "a^b$", "ü")) {
            assertThat(matches(path, path)).as(path).isTrue();
        }
        assertThat(matches("a.b", "axb")).isFalse();
        for (String open : List.of("a[b", "a{b")) {
            assertThatThrownBy(() -> PathPattern.of(open))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("is not closed");
        }
    }

    @Test
    void namesAreMatchedAtAnyDepthAndPathsBelowTheRoot() {
        NameFilter filter = new NameFilter(
                List.of(PathPattern.of("*.jpg"), PathPattern.of("raw/*")),
                List.of(PathPattern.of("thumbs")),
                Set.of("a/bad.jpg", "raw/dark[1].jpg"));
        assertThat(filter.takes("a/b.jpg")).isTrue();
        assertThat(filter.takes("a/b.png")).isFalse();
        assertThat(filter.takes("raw/b.png")).isTrue();
        assertThat(filter.takes("a/raw/b.png")).isFalse();
        assertThat(filter.takes("a/bad.jpg")).isFalse();
        assertThat(filter.takes("bad.jpg")).isTrue();
        assertThat(filter.takes("raw/dark[1].jpg")).isFalse();
        assertThat(filter.takes("raw/dark1.jpg")).isTrue();
        assertThat(filter.leavesOut("a/thumbs")).isTrue();
        assertThat(filter.with(PathPattern.of("a/*")).takes("raw/b.png")).isFalse();
    }
}
