package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Texts that the command makes and the repository keeps: pages of {@code docs}, and snapshots that show in a change
 * what a user would notice. {@code -Dstoker.write-docs=true} writes them.
 */
public final class Recorded {

    /** The folder of the pages, seen from this module. */
    public static final Path DOCS = Path.of("..", "docs");

    /** The folder of the snapshots. */
    static final Path SNAPSHOTS = Path.of("src", "test", "resources");

    private Recorded() {}

    /** Demands that a file has this text, or writes it. */
    public static void check(Path file, String text, Class<?> test) throws IOException {
        if (Boolean.getBoolean("stoker.write-docs")) {
            Files.writeString(file, text);
        }
        assertThat(file)
                .as(
                        "%s is stale; look at the difference after: ./mvnw -Dfast -pl cli -am -Dtest=%s"
                                + " -Dsurefire.failIfNoSpecifiedTests=false -Dstoker.write-docs=true test",
                        file, test.getSimpleName())
                .hasContent(text);
    }
}
