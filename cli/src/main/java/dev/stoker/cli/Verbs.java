package dev.stoker.cli;

import java.util.List;
import picocli.CommandLine;

/** All verbs, in the order in which help lists them. */
final class Verbs {

    private Verbs() {}

    /**
     * Adds the verbs to the command.
     *
     * @param command the command
     * @param trailing what stood behind the first {@code --}
     */
    static void addTo(CommandLine command, List<String> trailing) {
        command.addSubcommand(feeding(new RunVerb(trailing)));
        command.addSubcommand(feeding(new FeedVerb()));
        command.addSubcommand(new PsVerb());
        command.addSubcommand(new StopVerb());
    }

    private static CommandLine feeding(Object verb) {
        CommandLine command = new CommandLine(verb);
        FeedArguments.describe(command.getCommandSpec());
        return command;
    }
}
