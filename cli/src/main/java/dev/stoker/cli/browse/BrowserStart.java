package dev.stoker.cli.browse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Opens a page in the user's browser. The address contains a secret, and all users of the machine see the arguments of
 * a process. The browser therefore opens a file that only its user can read, which leads to the address.
 */
final class BrowserStart implements AutoCloseable {

    private final @Nullable Path file;
    private final Optional<String> problem;

    private BrowserStart(@Nullable Path file, Optional<String> problem) {
        this.file = file;
        this.problem = problem;
    }

    static BrowserStart none() {
        return new BrowserStart(null, Optional.empty());
    }

    /** @param url an address without characters that have a meaning in HTML */
    static BrowserStart at(String url) throws IOException {
        Path file = Files.createTempFile("stoker-browse-", ".html");
        Files.writeString(file, "<!doctype html><meta http-equiv=\"refresh\" content=\"0; url=" + url + "\">");
        boolean isMac = System.getProperty("os.name").toLowerCase(Locale.ROOT).startsWith("mac");
        try {
            new ProcessBuilder(List.of(isMac ? "open" : "xdg-open", file.toString()))
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return new BrowserStart(file, Optional.empty());
        } catch (IOException e) {
            return new BrowserStart(
                    file,
                    Optional.of("stoker: no browser can be started from here; open the address yourself" + " ("
                            + e.getMessage() + ")"));
        }
    }

    /** Returns why no browser was started. */
    Optional<String> problem() {
        return problem;
    }

    @Override
    public void close() throws IOException {
        if (file != null) {
            Files.deleteIfExists(file);
        }
    }
}
