package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.cli.help.HelpLayout;
import dev.stoker.cli.help.VerbHeadings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** {@code docs/cli.md} lists the verbs as {@code stoker --help} does, and links the page that explains each of them. */
class VerbsPageTest {

    private static final Path PAGE = Recorded.DOCS.resolve("cli.md");
    private static final String START = "<!-- Generated from --help: VerbsPageTest. -->\n";
    private static final String END = "<!-- End of the verbs. -->\n";

    /** The place that explains a verb, where it is not this page. */
    private static final Map<String, String> LINKS = links("""
            ingest ingest.md
            sync changing.md#sync-a-directory
            info #classes-sizes-and-shuffle-quality
            show #images-in-the-terminal
            ls random-access.md#keys
            stat random-access.md#keys
            get random-access.md#keys
            cat random-access.md#keys
            browse browse.md
            diff changing.md#compare-versions
            sql sql.md
            run operations.md#where-a-feed-runs
            feed operations.md#where-a-feed-runs
            stop operations.md#when-a-feed-ends
            top operations.md#why-does-my-trainer-wait
            audit #audit
            why operations.md#which-samples-were-in-a-step
            tag changing.md#name-versions
            update changing.md#update-fields
            delete changing.md#delete-samples
            compact operations.md#many-small-chunks
            index random-access.md#indexing
            expire changing.md#expire-versions
            gc changing.md#expire-versions
            cache tiers.md
            recover operations.md#recovering-a-lost-log
            rebuild operations.md#rebuilding-a-dataset-from-its-chunks
            export export.md
            copy copying.md
            mirror copying.md#follow-a-dataset
            mount mount.md
            unmount mount.md
            bench bench.md
            bench storage bench.md#storage
            bench feed bench.md#feed
            bench demand bench.md#demand
            bench report bench.md#report
            completion #completion-and-man-pages
            man #completion-and-man-pages
            """);

    private static Map<String, String> links(String lines) {
        Map<String, String> links = new HashMap<>();
        lines.lines().forEach(line -> {
            int end = line.lastIndexOf(' ');
            links.put(line.substring(0, end), line.substring(end + 1));
        });
        return links;
    }

    @Test
    void thePageListsTheVerbsOfTheHelp() throws IOException {
        String page = Files.readString(PAGE);
        int start = page.indexOf(START);
        int end = page.indexOf(END);
        assertThat(start).as("place of the verbs in " + PAGE).isBetween(0, end);
        Recorded.check(
                PAGE, page.substring(0, start + START.length()) + tables() + page.substring(end), VerbsPageTest.class);
    }

    private static String tables() {
        StringBuilder tables = new StringBuilder();
        VerbHeadings.of(Stoker.command().getCommandSpec()).forEach((title, verbs) -> {
            tables.append("\n### ").append(title).append("\n\n| verb | what it does |\n| --- | --- |\n");
            verbs.forEach(verb -> add(tables, verb.getCommandName(), verb));
        });
        return tables.append('\n').toString();
    }

    private static void add(StringBuilder tables, String name, CommandLine verb) {
        String link = LINKS.get(name);
        tables.append(link == null ? "| `" + name + "` | " : "| [`" + name + "`](" + link + ") | ")
                .append(HelpLayout.summary(verb.getCommandSpec()))
                .append(" |\n");
        verb.getSubcommands().forEach((below, measurement) -> add(tables, name + " " + below, measurement));
    }
}
