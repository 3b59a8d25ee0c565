package dev.stoker.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TerminalTest {
    /** On JDK 22 to 24, {@code System.console()} returns a console even for a process whose output is a pipe. */
    @Test
    void aProcessWithPipesHasNoTerminal() {
        assertThat(Terminal.isThere()).isFalse();
    }
}
