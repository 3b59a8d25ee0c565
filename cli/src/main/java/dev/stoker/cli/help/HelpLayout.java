package dev.stoker.cli.help;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/**
 * Lays out the help of every verb for 80 columns: examples, usage, description, arguments, options by topic. Not with
 * picocli's own tables, which break lines inside of paths and examples, and indent the lines after the first further.
 */
public final class HelpLayout {

    static final int COLUMNS = 80;

    private static final int INDENT = 2;
    /** Leaves room for a short option in front: {@code -f, }. */
    private static final int OPTION_INDENT = 6;

    private static final int GAP = 2;
    /** A longer name has its own line. */
    private static final int LONGEST_NAME = 22;

    private HelpLayout() {}

    /** Sets the layout of a command and its verbs. */
    public static void apply(CommandLine command) {
        UsageMessageSpec usage = command.getCommandSpec().usageMessage();
        command.setUsageHelpWidth(COLUMNS);
        usage.synopsisHeading("%nUsage: ");
        usage.descriptionHeading("%n");
        if (!command.getCommandSpec().positionalParameters().isEmpty()) {
            usage.parameterListHeading("%nArguments:%n");
        }
        command.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_DESCRIPTION, HelpLayout::description);
        command.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_PARAMETER_LIST, HelpLayout::arguments);
        command.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_OPTION_LIST, HelpLayout::options);
        command.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST, HelpLayout::verbs);
        command.getSubcommands().values().forEach(HelpLayout::apply);
    }

    /** Returns the first sentence of a command's description. */
    public static String summary(CommandSpec command) {
        String[] description = command.usageMessage().description();
        String text = description.length == 0 ? "" : description[0];
        int end = text.indexOf(". ");
        return end < 0 ? text : text.substring(0, end + 1);
    }

    private static String description(Help help) {
        StringBuilder text = new StringBuilder();
        for (String paragraph : help.commandSpec().usageMessage().description()) {
            wrapped(paragraph, COLUMNS).forEach(line -> line(text, line));
        }
        return text.toString();
    }

    /** Lists the verbs of the command under headings, and the subcommands of a verb without headings. */
    private static String verbs(Help help) {
        StringBuilder text = new StringBuilder();
        CommandSpec command = help.commandSpec();
        int width = width(command.subcommands().keySet());
        if (command.parent() != null) {
            command.subcommands().values().forEach(verb -> verb(text, help, verb, width));
            return text.toString();
        }
        VerbHeadings.of(command).forEach((title, verbs) -> {
            line(text, "");
            line(text, title + ":");
            verbs.forEach(verb -> verb(text, help, verb, width));
        });
        return text.toString();
    }

    private static void verb(StringBuilder text, Help help, CommandLine verb, int width) {
        String name = verb.getCommandName();
        String drawn = help.colorScheme().commandText(name).toString();
        item(text, name, drawn, summary(verb.getCommandSpec()), INDENT, width);
    }

    private static String arguments(Help help) {
        StringBuilder text = new StringBuilder();
        int width = width(help.commandSpec());
        for (PositionalParamSpec argument : help.commandSpec().positionalParameters()) {
            String label = argument.arity().min() == 0 && !argument.hideParamSyntax()
                    ? "[" + argument.paramLabel() + "]"
                    : argument.paramLabel();
            String drawn = help.colorScheme().parameterText(label).toString();
            item(text, label, drawn, String.join(" ", argument.description()), OPTION_INDENT, width);
        }
        return text.toString();
    }

    private static String options(Help help) {
        StringBuilder text = new StringBuilder();
        // The width of the names follows from all options, so that the topics look alike.
        int width = width(help.commandSpec());
        for (HelpHeadings.Topic topic : HelpHeadings.of(help.commandSpec())) {
            line(text, "");
            line(text, topic.title() + ":");
            for (OptionSpec option : topic.options()) {
                String name = name(option);
                String drawn = help.colorScheme().optionText(name).toString();
                int indent = option.names().length > 1 ? INDENT : OPTION_INDENT;
                item(text, name, drawn, String.join(" ", option.description()), indent, width + OPTION_INDENT - indent);
            }
        }
        return text.toString();
    }

    /** Returns an option with its label, such as {@code -f, --file=FILE}. */
    public static String name(OptionSpec option) {
        return String.join(", ", option.names()) + label(option);
    }

    private static String label(OptionSpec option) {
        return option.arity().max() == 0 ? "" : "=" + option.paramLabel();
    }

    private static int width(CommandSpec command) {
        List<String> names = new ArrayList<>();
        command.positionalParameters().forEach(argument -> names.add("[" + argument.paramLabel() + "]"));
        command.options().forEach(option -> names.add(option.longestName() + label(option)));
        return width(names);
    }

    /** Returns the width of the longest name, without the names that get a separate line. */
    private static int width(Collection<String> names) {
        return names.stream()
                .mapToInt(String::length)
                .filter(length -> length <= LONGEST_NAME)
                .max()
                .orElse(LONGEST_NAME);
    }

    /** Appends a name and its text, which begins in the same column for all names of a command. */
    private static void item(StringBuilder to, String name, String drawn, String text, int indent, int width) {
        int column = indent + width + GAP;
        String margin = " ".repeat(column);
        List<String> lines = wrapped(text, COLUMNS - column);
        boolean isAlone = name.length() > width;
        String first = " ".repeat(indent) + drawn;
        if (isAlone) {
            line(to, first);
        }
        for (int i = 0; i < lines.size(); i++) {
            boolean besideName = i == 0 && !isAlone;
            line(to, (besideName ? first + " ".repeat(column - indent - name.length()) : margin) + lines.get(i));
        }
    }

    /** Breaks a text at spaces only, so that a path or an example stays whole. */
    static List<String> wrapped(String text, int width) {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (String word : text.split(" ", -1)) {
            if (line.length() > 0 && line.length() + 1 + word.length() > width) {
                lines.add(line.toString());
                line.setLength(0);
            }
            line.append(line.length() == 0 ? "" : " ").append(word);
        }
        lines.add(line.toString());
        return lines;
    }

    private static void line(StringBuilder to, String text) {
        to.append(text).append(System.lineSeparator());
    }
}
