package dev.stoker.cli.help;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.cli.Stoker;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class ManVerbTest {

    @TempDir
    private Path directory;

    private final StringWriter out = new StringWriter();

    private int man(Path target) {
        PrintWriter writer = new PrintWriter(out, true);
        return Stoker.run(List.of("man", target.toString()), writer, writer);
    }

    @Test
    void writesAPageForTheCommandAndForEachVerb() throws IOException {
        Path target = directory.resolve("share/man1");
        assertThat(man(target)).isZero();
        int pages = pages(Stoker.command());
        assertThat(out.toString()).isEqualTo("wrote " + pages + " pages to " + target + System.lineSeparator());
        try (var files = Files.list(target)) {
            assertThat(files).hasSize(pages);
        }
        assertThat(Files.readString(target.resolve("stoker.1")))
                .contains("stoker\\-audit(1)", ".SS \"Change datasets\"", ".B \"compact\"");
    }

    private static int pages(CommandLine command) {
        return 1
                + command.getSubcommands().values().stream()
                        .mapToInt(ManVerbTest::pages)
                        .sum();
    }

    @Test
    void eachPageHasSectionsTopicsAndOptions() {
        Map<String, String> pages = ManPages.of(Stoker.command().getCommandSpec());
        pages.values()
                .forEach(page -> assertThat(page)
                        .contains(".SH \"NAME\"", ".SH \"SYNOPSIS\"", ".SH \"EXAMPLES\"", ".SH \"EXIT STATUS\""));
        assertThat(pages.get("stoker-feed.1"))
                .contains(".SS \"Security\"", ".B \"\\-\\-batch\\-size=N\"", "stoker\\-feed \\- serves datasets");
    }

    /** A line that begins with a dot is a request, so text must not begin with one. */
    @Test
    void onlyKnownRequestsBeginALine() {
        ManPages.of(Stoker.command().getCommandSpec())
                .values()
                .forEach(page -> assertThat(page.lines().filter(line -> line.matches("[.'].*")))
                        .allMatch(line -> line.matches("\\.(TH|SH|SS|TP|B|PP|nf|fi)( .*)?")));
    }
}
