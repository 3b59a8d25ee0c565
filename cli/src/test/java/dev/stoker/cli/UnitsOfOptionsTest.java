package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** A time or size without a unit is refused, whichever verb has the option. */
class UnitsOfOptionsTest extends DatasetVerbs {

    /** The other arguments of verbs that need more than a dataset. */
    private Map<String, List<String>> arguments() {
        String other = directory.resolve("other").toString();
        return Map.of(
                "mirror", List.of(path(), other),
                "mount", List.of(path(), other),
                "stop", List.of("no-such-feed"),
                "wait", List.of("no-such-feed"),
                "storage", List.of(other));
    }

    @Test
    void eachTimeAndSizeNeedsAUnit() {
        List<String> tried = new ArrayList<>();
        tryAll(Stoker.command(), List.of(), tried);
        assertThat(tried)
                .contains("gc --older-than", "compact --below", "bench storage --block-size", "wait --timeout");
    }

    /** They parse their arguments like the jobs, see below. */
    private static final Set<String> JOBS = Set.of("ingest", "sync", "export", "feed", "run");

    private void tryAll(CommandLine command, List<String> verb, List<String> tried) {
        for (OptionSpec option : command.getCommandSpec().options()) {
            boolean hasUnit =
                    option.paramLabel().contains("TIME") || option.paramLabel().contains("SIZE");
            // This time can also be a date, and its error shows both.
            if (hasUnit && !option.longestName().equals("--as-of")) {
                tried.add(String.join(" ", verb) + " " + option.longestName());
                List<String> line = new ArrayList<>(verb);
                line.addAll(arguments().getOrDefault(verb.get(verb.size() - 1), List.of(path())));
                line.addAll(List.of(option.longestName(), "30"));
                assertThat(stoker(line.toArray(String[]::new)))
                        .as(() -> line + ": " + err)
                        .isEqualTo(2);
                assertThat(err.toString())
                        .as(line.toString())
                        .containsPattern(
                                "option " + option.longestName() + ": 30: give a unit, for example 30 (s|MiB)");
            }
        }
        command.getSubcommands().forEach((name, sub) -> {
            if (JOBS.contains(name)) {
                return;
            }
            List<String> longer = new ArrayList<>(verb);
            longer.add(name);
            tryAll(sub, longer, tried);
        });
    }

    @Test
    void optionsOfJobsNeedAUnitToo() {
        Map<String, List<String>> options = Map.of(
                "feed", List.of("--idle-timeout", "--checkpoint-interval", "--shuffle-window"),
                "ingest", List.of("--chunk-size"),
                "export", List.of("--shard-size"));
        options.forEach((verb, names) -> {
            for (String name : names) {
                assertThat(stoker(verb, path(), path() + "-x", name, "30")).isEqualTo(2);
                assertThat(err.toString()).as(verb).contains("option " + name + ": 30: give a unit, for example 30 ");
            }
        });
    }
}
