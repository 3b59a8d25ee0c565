package dev.stoker.cli.help;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** The headings under which help, man pages and the reference list the verbs. The command itself implements it. */
public interface VerbHeadings {
    /** Returns the names of the verbs by heading, in the order in which help lists them. */
    Map<String, List<String>> namesByHeading();

    /** Returns the verbs of the command by heading. */
    static Map<String, List<CommandLine>> of(CommandSpec command) {
        Map<String, List<CommandLine>> headings = new LinkedHashMap<>();
        ((VerbHeadings) command.userObject())
                .namesByHeading()
                .forEach((title, names) -> headings.put(
                        title,
                        names.stream()
                                .flatMap(name ->
                                        Stream.ofNullable(command.subcommands().get(name)))
                                .toList()));
        return headings;
    }
}
