package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ErrorsTest {
    @Test
    void namesTheDirectoryFromWhichANativeLibraryCannotBeLoaded() {
        Throwable failure = new IOException("task failed", new UnsatisfiedLinkError("no zstd in path\nUnsupported OS"));
        assertThat(Errors.message(failure))
                .isEqualTo("a native library cannot be loaded (no zstd in path); the directory of temporary files, "
                        + System.getProperty("java.io.tmpdir") + ", may be mounted noexec: choose another one with"
                        + " STOKER_JAVA_OPTS=-Djava.io.tmpdir=DIRECTORY");
    }

    @Test
    void linesOfMessagesHaveNoControlCharacters() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        new MessageWriter(new PrintStream(bytes, true, StandardCharsets.UTF_8))
                .println("stoker: the column \u001b[31mred");
        assertThat(bytes.toString(StandardCharsets.UTF_8))
                .isEqualToIgnoringNewLines("stoker: the column \\u001b[31mred");
    }
}
