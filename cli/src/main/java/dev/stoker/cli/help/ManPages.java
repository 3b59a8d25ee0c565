package dev.stoker.cli.help;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** Man pages in roff's man macros, from the same model as {@code --help}. */
final class ManPages {

    private static final String EXIT_STATUS = """
            0 for success; 1 for a failure, or if verify or audit found an error; 2 for wrong usage; 130 after Ctrl-C.
            stoker run returns the exit code of the trainer.""";

    private static final List<List<String>> ENVIRONMENT = List.of(
            List.of("STOKER_HOME", "Directory for the files of running feeds and for logs. Default: ~/.stoker."),
            List.of("STOKER_JAVA_OPTS", "Options of the JVM, such as -Djava.io.tmpdir=DIRECTORY."));

    private ManPages() {}

    /** The pages of a command and its verbs by file name. */
    static Map<String, String> of(CommandSpec command) {
        Map<String, String> pages = new LinkedHashMap<>();
        pages.put(command.name() + ".1", page(command, command.name(), verbs(command)));
        add(pages, command, command.name());
        return pages;
    }

    /** Adds the pages of the verbs of a command, and of their measurements. */
    private static void add(Map<String, String> pages, CommandSpec command, String parent) {
        command.subcommands().forEach((name, verb) -> {
            String title = parent + "-" + name;
            List<String> see = new ArrayList<>(List.of(parent + "(1)"));
            verb.getSubcommands().keySet().forEach(below -> see.add(title + "-" + below + "(1)"));
            pages.put(title + ".1", page(verb.getCommandSpec(), title, see));
            add(pages, verb.getCommandSpec(), title);
        });
    }

    private static List<String> verbs(CommandSpec command) {
        List<String> pages = new ArrayList<>();
        command.subcommands().keySet().forEach(name -> pages.add(command.name() + "-" + name + "(1)"));
        return pages;
    }

    private static String page(CommandSpec spec, String title, List<String> seeAlso) {
        StringBuilder page = new StringBuilder();
        String[] description = spec.usageMessage().description();
        page.append(".TH ").append(title.toUpperCase(Locale.ROOT)).append(" 1 \"\" Stoker Stoker\n");
        section(page, "NAME");
        text(page, title + " - " + summary(spec));
        section(page, "SYNOPSIS");
        page.append(".nf\n");
        text(page, new Help(spec).synopsis(0).strip());
        page.append(".fi\n");
        section(page, "EXAMPLES");
        page.append(".nf\n");
        List.of(spec.usageMessage().header()).stream().skip(1).forEach(line -> text(page, line));
        page.append(".fi\n");
        section(page, "DESCRIPTION");
        for (String paragraph : description) {
            text(page, paragraph);
            page.append(".PP\n");
        }
        if (!spec.subcommands().isEmpty()) {
            section(page, "VERBS");
            verbs(page, spec);
        }
        if (!spec.positionalParameters().isEmpty()) {
            section(page, "ARGUMENTS");
            for (PositionalParamSpec argument : spec.positionalParameters()) {
                item(page, argument.paramLabel(), rendered(argument.description()));
            }
        }
        section(page, "OPTIONS");
        for (HelpHeadings.Topic topic : HelpHeadings.of(spec)) {
            topic(page, topic.title());
            for (OptionSpec option : topic.options()) {
                String label = option.arity().max() == 0 ? "" : "=" + option.paramLabel();
                item(page, String.join(", ", option.names()) + label, rendered(option.description()));
            }
        }
        section(page, "EXIT STATUS");
        text(page, EXIT_STATUS);
        section(page, "ENVIRONMENT");
        ENVIRONMENT.forEach(variable -> item(page, variable.get(0), variable.get(1)));
        section(page, "SEE ALSO");
        text(page, String.join(", ", seeAlso));
        return page.toString();
    }

    private static void verbs(StringBuilder page, CommandSpec spec) {
        if (spec.parent() != null) {
            spec.subcommands().values().forEach(verb -> verb(page, verb));
            return;
        }
        VerbHeadings.of(spec).forEach((title, verbs) -> {
            topic(page, title);
            verbs.forEach(verb -> verb(page, verb));
        });
    }

    private static void verb(StringBuilder page, CommandLine verb) {
        item(page, verb.getCommandName(), summary(verb.getCommandSpec()));
    }

    private static void topic(StringBuilder page, String title) {
        page.append(".SS \"").append(escaped(title)).append("\"\n");
    }

    private static void section(StringBuilder page, String title) {
        page.append(".SH \"").append(title).append("\"\n");
    }

    private static void item(StringBuilder page, String term, String text) {
        page.append(".TP\n.B \"").append(escaped(term).replace("\"", "\\(dq")).append("\"\n");
        text(page, text);
    }

    private static void text(StringBuilder page, String text) {
        text.lines().forEach(line -> page.append(escaped(line)).append('\n'));
    }

    /** The first sentence, in lower case and without its full stop. */
    private static String summary(CommandSpec command) {
        String first = HelpLayout.summary(command).replaceFirst("\\.$", "");
        return first.isEmpty() ? first : Character.toLowerCase(first.charAt(0)) + first.substring(1);
    }

    private static String rendered(String... description) {
        return String.join(" ", description);
    }

    /** Text in which roff finds no request, no escape and no hyphen. */
    private static String escaped(String line) {
        String text = line.replace("\\", "\\e").replace("-", "\\-");
        return text.startsWith(".") || text.startsWith("'") ? "\\&" + text : text;
    }
}
