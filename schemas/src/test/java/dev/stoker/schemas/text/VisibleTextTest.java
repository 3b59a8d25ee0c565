package dev.stoker.schemas.text;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class VisibleTextTest {
    @Test
    void escapesWhatATerminalInterprets() {
        assertThat(VisibleText.of("a\u001b[31mred\u0007\r\u009b1m"))
                .isEqualTo("a\\u001b[31mred\\u0007\\u000d\\u009b1m");
        assertThat(VisibleText.of("photo\u202egpj.exe\u200b")).isEqualTo("photo\\u202egpj.exe\\u200b");
        assertThat(VisibleText.of("tag \uDB40\uDC41")).isEqualTo("tag \\U000e0041");
    }

    @Test
    void keepsTextWithItsLinesAndTabs() {
        String text = "field\tname: zażółć 🦊 👩\u200d🚀\nnext line";
        assertThat(VisibleText.of(text)).isSameAs(text);
    }
}
