package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.cli.help.HelpHeadings;
import dev.stoker.cli.help.HelpLayout;
import dev.stoker.cli.help.VerbHeadings;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

class HelpTest {

    private static Stream<String> verbs() {
        return Stoker.command().getSubcommands().keySet().stream();
    }

    /** The verbs, and those below a verb with its name: {@code bench storage}. */
    private static Stream<String> allVerbs() {
        return Stoker.command().getSubcommands().entrySet().stream()
                .flatMap(verb -> Stream.concat(
                        Stream.of(verb.getKey()),
                        verb.getValue().getSubcommands().keySet().stream().map(below -> verb.getKey() + " " + below)));
    }

    private static CommandSpec spec(String verb) {
        CommandLine command = Stoker.command();
        for (String word : verb.split(" ")) {
            command = command.getSubcommands().get(word);
        }
        return command.getCommandSpec();
    }

    private static List<String> help(String... words) {
        StringWriter out = new StringWriter();
        List<String> args = new ArrayList<>(List.of(String.join(" ", words).split(" ")));
        args.removeIf(String::isEmpty);
        args.add("--help");
        assertThat(Stoker.run(args, new PrintWriter(out, true), new PrintWriter(out, true)))
                .isZero();
        return out.toString().lines().toList();
    }

    @ParameterizedTest
    @MethodSource("allVerbs")
    void beginsWithAnExample(String verb) {
        List<String> lines = help(verb);
        assertThat(lines.get(0)).matches("Examples?:");
        assertThat(lines.get(1)).contains("stoker " + verb);
        List<String> examples = lines.subList(1, lines.indexOf("")).stream()
                .filter(line -> line.startsWith("  ") && !line.startsWith("   "))
                .toList();
        assertThat(lines.get(0)).isEqualTo(examples.size() == 1 ? "Example:" : "Examples:");
        assertThat(lines).anyMatch(line -> line.startsWith("Usage: stoker " + verb));
    }

    @ParameterizedTest
    @MethodSource("allVerbs")
    void wrapsAtEightyColumns(String verb) {
        assertThat(help(verb)).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(80));
    }

    @ParameterizedTest
    @MethodSource("allVerbs")
    void anExampleHasNoLineThatTheTerminalBreaks(String verb) {
        List<String> lines = help(verb);
        for (String line : lines.subList(1, lines.indexOf(""))) {
            assertThat(line).startsWith("  ");
        }
    }

    @ParameterizedTest
    @MethodSource("allVerbs")
    void breaksLinesBetweenWords(String verb) {
        CommandSpec spec = spec(verb);
        String all = String.join(" ", help(verb)).replaceAll("\\s+", " ");
        List<String> texts = new ArrayList<>(List.of(spec.usageMessage().description()));
        spec.options().forEach(option -> texts.addAll(List.of(option.description())));
        spec.positionalParameters().forEach(argument -> texts.addAll(List.of(argument.description())));
        assertThat(all).contains(texts);
    }

    @ParameterizedTest
    @MethodSource("allVerbs")
    void saysWhatAnOptionExpects(String verb) {
        assertThat(help(verb)).noneMatch(line -> line.contains("=VALUE") && !line.contains("KEY=VALUE"));
    }

    @ParameterizedTest
    @MethodSource("allVerbs")
    void listsEachOptionUnderOneTopic(String verb) {
        CommandSpec spec = spec(verb);
        List<HelpHeadings.Topic> topics = HelpHeadings.of(spec);
        assertThat(topics).extracting(HelpHeadings.Topic::title).doesNotContain(HelpHeadings.OTHER);
        assertThat(topics.stream().flatMap(topic -> topic.options().stream()))
                .containsExactlyInAnyOrderElementsOf(spec.options());
        List<String> all = help(verb);
        List<String> lines = all.subList(all.indexOf(""), all.size());
        assertThat(lines)
                .containsSubsequence(
                        topics.stream().map(topic -> topic.title() + ":").toList());
        for (OptionSpec option : spec.options()) {
            assertThat(lines)
                    .as(option.longestName())
                    .filteredOn(line -> line.matches("(  -\\w, | {6})" + option.longestName() + "([= ].*)?"))
                    .hasSize(1);
        }
    }

    @ParameterizedTest
    @MethodSource("verbs")
    void aVerbThatIsBuiltAloneHasTheSameHelp(String verb) {
        CommandLine all = Stoker.command();
        HelpLayout.apply(all);
        CommandLine one = new CommandLine(CommandSpec.create().name("stoker"));
        Verbs.addTo(one, verb, List.of(), List.of());
        HelpLayout.apply(one);
        assertThat(one.getSubcommands().get(verb).getUsageMessage())
                .isEqualTo(all.getSubcommands().get(verb).getUsageMessage());
        // Completion and manual pages describe all verbs.
        assertThat(one.getSubcommands())
                .hasSize(verb.matches("completion|man") ? all.getSubcommands().size() : 1);
    }

    @Test
    void theCommandItselfBeginsWithExamplesAndListsEachVerbInOneLineUnderAHeading() {
        List<String> lines = help();
        assertThat(lines.get(0)).isEqualTo("Examples:");
        assertThat(lines).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(80));
        CommandSpec command = Stoker.command().getCommandSpec();
        Map<String, List<CommandLine>> headings = VerbHeadings.of(command);
        headings.forEach((title, verbs) -> assertThat(lines)
                .containsSubsequence("", title + ":")
                .containsSubsequence(verbs.stream()
                        .map(verb -> line(lines, verb.getCommandName()))
                        .toList()));
        assertThat(headings.values().stream().flatMap(List::stream))
                .containsExactlyElementsOf(command.subcommands().values());
    }

    /** Returns the line of a verb, which is its only one. */
    private static String line(List<String> lines, String verb) {
        List<String> found = lines.stream()
                .filter(line -> line.matches("  " + verb + " +(?!Example)[A-Z].*\\."))
                .toList();
        assertThat(found).as(verb).hasSize(1);
        return found.get(0);
    }
}
