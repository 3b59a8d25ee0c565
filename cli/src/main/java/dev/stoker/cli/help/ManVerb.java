package dev.stoker.cli.help;

import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker man}: writes the manual, one page for each verb. */
@Command(
        name = "man",
        header = {"Example:", "  stoker man ~/.local/share/man/man1 && man stoker-feed"},
        description = "Writes man pages: stoker.1, and one page for each verb.",
        sortOptions = false)
public final class ManVerb implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "DIRECTORY", description = "Directory for the pages; created if it does not exist.")
    private Path directory;

    @Override
    public Integer call() throws IOException {
        Map<String, String> pages = ManPages.of(spec.root());
        Files.createDirectories(directory);
        for (Map.Entry<String, String> page : pages.entrySet()) {
            Files.writeString(directory.resolve(page.getKey()), page.getValue());
        }
        spec.commandLine().getOut().println("wrote " + Units.plural(pages.size(), "page") + " to " + directory);
        return 0;
    }
}
