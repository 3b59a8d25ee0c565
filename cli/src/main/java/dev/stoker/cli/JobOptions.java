package dev.stoker.cli;

import dev.stoker.connectors.options.JobArguments;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.description.HtmlFormatter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;

/** The options of a job as options of a verb, so that the command line and {@code flink run} take the same ones. */
final class JobOptions {

    private JobOptions() {}

    /**
     * Adds a job's options to a verb.
     *
     * @param spec the verb
     * @param prefix common prefix of the options' keys
     * @param options the options
     * @param positional label and description of the other arguments
     */
    static void describe(CommandSpec spec, String prefix, List<ConfigOption<?>> options, String... positional) {
        HtmlFormatter html = new HtmlFormatter();
        for (int i = 0; i < positional.length; i += 2) {
            spec.addPositional(PositionalParamSpec.builder()
                    .paramLabel(positional[i])
                    .description(positional[i + 1])
                    .index(i == positional.length - 2 ? i / 2 + "..*" : Integer.toString(i / 2))
                    .arity("0..1")
                    .type(List.class)
                    .auxiliaryTypes(String.class)
                    .build());
        }
        for (ConfigOption<?> option : options) {
            boolean flag = option.defaultValue() instanceof Boolean;
            spec.addOption(OptionSpec.builder(JobArguments.flag(option, prefix))
                    .paramLabel(flag ? "" : "VALUE")
                    .arity(flag ? "0" : "1")
                    .type(flag ? Boolean.class : List.class)
                    .auxiliaryTypes(flag ? Boolean.class : String.class)
                    .description(html.format(option.description()) + defaultText(option))
                    .build());
        }
    }

    private static String defaultText(ConfigOption<?> option) {
        Object value = option.defaultValue();
        if (value == null || value instanceof Boolean || (value instanceof List<?> list && list.isEmpty())) {
            return "";
        }
        return " Default: " + (value instanceof Duration duration ? duration.toSeconds() + " s" : value.toString())
                + ".";
    }

    /** The arguments as the feeder job takes them. */
    static List<String> collect(ParseResult result) {
        List<String> args = new ArrayList<>();
        for (OptionSpec option : result.matchedOptions()) {
            if (option.longestName().equals("--help") || option.longestName().equals("--version")) {
                continue;
            }
            for (String value : option.originalStringValues()) {
                args.add(option.longestName() + "=" + (value.isEmpty() ? "true" : value));
            }
        }
        // A parameter of several values is listed once for each.
        for (PositionalParamSpec positional : new LinkedHashSet<>(result.matchedPositionals())) {
            args.addAll(positional.stringValues());
        }
        return args;
    }
}
