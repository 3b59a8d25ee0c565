package dev.stoker.schemas.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShellTextTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "plain",
                "a b",
                "it's",
                "=x",
                "int8?[]",
                "red\u001b[31m",
                "tab\there's \\n",
                "two\nlines",
                "*",
                "$HOME",
                "",
            })
    void aShellReadsTheSameText(String text) throws Exception {
        String word = ShellText.word(text);
        assertThat(word).doesNotContainPattern("\\p{Cc}");
        Process bash = new ProcessBuilder("bash", "-c", "printf %s " + word)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        assertThat(new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .isEqualTo(text);
    }
}
