package dev.stoker.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.cli.Stoker;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
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
        StringWriter err = new StringWriter();
        int code = Stoker.run(
                List.of("info", "no\u001b[31mred"), new PrintWriter(new StringWriter()), new PrintWriter(err, true));
        assertThat(code).isEqualTo(Errors.USAGE);
        assertThat(err.toString()).contains("no\\u001b[31mred");
        assertThat(SafeOutput.escape("red\u202e \uDB40\uDC41")).isEqualTo("red\\u202e \\udb40\\udc41");
        assertThat(SafeOutput.escape("field\tname: zażółć 🦊\nnext line"))
                .isEqualTo("field\tname: zażółć 🦊\nnext line");
    }
}
