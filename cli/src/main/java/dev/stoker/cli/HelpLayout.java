package dev.stoker.cli;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/** Lays out the help of every verb for 80 columns: examples, usage, description, arguments, options by topic. */
final class HelpLayout {

    static final int COLUMNS = 80;

    private static final int INDENT = 2;

    private HelpLayout() {}

    /** Sets the layout of a command and its verbs. */
    static void apply(CommandLine command) {
        UsageMessageSpec usage = command.getCommandSpec().usageMessage();
        command.setUsageHelpWidth(COLUMNS);
        usage.synopsisHeading("%nUsage: ");
        usage.descriptionHeading("%n");
        if (!command.getCommandSpec().positionalParameters().isEmpty()) {
            usage.parameterListHeading("%nArguments:%n");
        }
        command.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_OPTION_LIST, HelpLayout::options);
        command.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST, HelpLayout::verbs);
        command.getSubcommands().values().forEach(HelpLayout::apply);
    }

    /** Returns the first sentence of a command's description. */
    static String summary(CommandSpec command) {
        String[] description = command.usageMessage().description();
        String text = description.length == 0 ? "" : description[0];
        int end = text.indexOf(". ");
        return end < 0 ? text : text.substring(0, end + 1);
    }

    private static String verbs(Help help) {
        int width = help.commandSpec().subcommands().keySet().stream()
                .mapToInt(String::length)
                .max()
                .orElse(0);
        Help.TextTable table = Help.TextTable.forColumns(
                help.colorScheme(),
                new Help.Column(width + INDENT, INDENT, Help.Column.Overflow.SPAN),
                new Help.Column(COLUMNS - width - INDENT, INDENT, Help.Column.Overflow.WRAP));
        help.commandSpec()
                .subcommands()
                .forEach((name, verb) -> table.addRowValues(name, summary(verb.getCommandSpec())));
        return table.toString();
    }

    private static String options(Help help) {
        List<OptionSpec> all = new ArrayList<>(help.commandSpec().options());
        StringBuilder text = new StringBuilder();
        for (Topics.Topic topic : Topics.of(help.commandSpec())) {
            // The width of the columns follows from all options, so that the topics look alike.
            Help.Layout layout =
                    help.createDefaultLayout(all, help.commandSpec().positionalParameters(), help.colorScheme());
            layout.addAllOptions(topic.options(), help.parameterLabelRenderer());
            text.append(System.lineSeparator())
                    .append(topic.title())
                    .append(':')
                    .append(System.lineSeparator());
            text.append(layout);
        }
        return text.toString();
    }
}
