package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.feeder.registry.StokerHome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A command that only looks leaves no trace: in no file of the dataset, of its ledgers, of feeds and of sources. */
@Timeout(120)
class OnlyLooksTest extends DatasetVerbs {

    /** Verbs that serve, write, or start another program. {@code VisitTest} looks at the pages of browse. */
    private static final Set<String> OTHERS =
            Set.of("run", "feed", "stop", "mirror", "mount", "unmount", "browse", "sql", "bench");

    private Path work;
    private RunningFeed feed;

    @BeforeEach
    void serve() throws IOException {
        dataset.append(4, 100, 3);
        work = Files.createDirectories(directory.resolve("work"));
        Files.createDirectories(directory.resolve("tree/cat"));
        Files.writeString(directory.resolve("tree/cat/1.txt"), "purr");
        Files.writeString(directory.resolve("updates.csv"), "key,score\n" + key(0, 0) + ",0.5\n");
        feed = new RunningFeed(dataset);
    }

    @AfterEach
    void end() throws IOException {
        feed.close();
    }

    private List<List<String>> commands() throws IOException {
        List<List<String>> commands = new ArrayList<>(EveryVerb.of(
                dataset.path(), key(0, 0), directory.resolve("tree"), directory.resolve("updates.csv"), work));
        // Starts Flink, so once is enough.
        commands.removeIf(command -> command.contains("sync") && command.contains("--json"));
        commands.add(List.of("audit", feed.name()));
        commands.add(List.of("audit", feed.name(), "--json", "--epochs", "1"));
        commands.add(List.of("audit", "--ledger", feed.ledger().toString()));
        commands.add(List.of("top", feed.name(), "--once"));
        commands.add(List.of("top", feed.name(), "--once", "--json"));
        commands.add(List.of("wait", feed.name()));
        commands.add(List.of("ps"));
        commands.add(List.of("why", "--feed", feed.name(), "--step", "0"));
        return commands;
    }

    @Test
    void noFileChanges() throws IOException {
        List<List<String>> commands = commands();
        Set<String> verbs = new TreeSet<>(OTHERS);
        commands.forEach(command -> verbs.add(command.get(0)));
        assertThat(verbs)
                .as("a new verb looks, or belongs to the others")
                .isEqualTo(new TreeSet<>(Stoker.command().getSubcommands().keySet()));
        SoftAssertions all = new SoftAssertions();
        Map<String, String> before = picture();
        for (List<String> command : commands) {
            int code = stoker(command.toArray(String[]::new));
            // The audit misses the epoch that it is to require.
            all.assertThat(code)
                    .as("%s: %s%s", command, out, err)
                    .isEqualTo(command.contains("--epochs") && command.contains("audit") ? 1 : 0);
            Map<String, String> after = picture();
            all.assertThat(after).as("%s", command).isEqualTo(before);
            before = after;
        }
        all.assertThat(feed.node().groupFacts()).as("no trainer reads").isEmpty();
        all.assertAll();
    }

    private Map<String, String> picture() throws IOException {
        // Pages of the manual are written where the user says.
        Path pages = work.resolve("man");
        return FilesSeen.of(path -> !path.startsWith(pages) && !path.equals(work), directory, StokerHome.feeds());
    }
}
