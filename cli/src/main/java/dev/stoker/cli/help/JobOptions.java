package dev.stoker.cli.help;

import dev.stoker.cli.options.OptionLabels;
import dev.stoker.flink.arguments.JobArguments;
import dev.stoker.flink.arguments.OptionValues;
import java.util.List;
import java.util.Optional;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.description.HtmlFormatter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * Turns the options of a job into options of a verb, so that the command line and {@code flink run} accept the same
 * ones.
 */
public final class JobOptions {

    private JobOptions() {}

    /**
     * Adds a job's options to a verb.
     *
     * @param spec the verb
     * @param prefix common prefix of the options' keys
     * @param options the options
     * @param positional label and description of the other arguments
     */
    public static void describe(CommandSpec spec, String prefix, List<ConfigOption<?>> options, String... positional) {
        for (int i = 0; i < positional.length; i += 2) {
            spec.addPositional(PositionalParamSpec.builder()
                    .paramLabel(positional[i])
                    .description(positional[i + 1])
                    .index(i == positional.length - 2 ? i / 2 + "..*" : Integer.toString(i / 2))
                    .arity("0..1")
                    .hideParamSyntax(true)
                    .type(List.class)
                    .auxiliaryTypes(String.class)
                    .build());
        }
        for (ConfigOption<?> option : options) {
            boolean flag = option.defaultValue() instanceof Boolean;
            String name = JobArguments.flag(option, prefix);
            String label = OptionLabels.of(option, name);
            List<String> values = OptionLabels.values(label);
            spec.addOption(OptionSpec.builder(name)
                    .paramLabel(label)
                    .completionCandidates(values.isEmpty() ? null : values)
                    .arity(flag ? "0" : "1")
                    .type(flag ? Boolean.class : List.class)
                    .auxiliaryTypes(flag ? Boolean.class : String.class)
                    .description(describe(option) + defaultText(option))
                    .build());
        }
    }

    /** Converts a description to plain text, because Flink formats descriptions only as HTML. */
    private static String plain(String html) {
        return html.replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&quot;", "\"")
                .replace("&amp;", "&");
    }

    private static String defaultText(ConfigOption<?> option) {
        return defaultValue(option).map(value -> " Default: " + value + ".").orElse("");
    }

    /** An option's form on the command line. */
    static String flag(ConfigOption<?> option, String prefix) {
        return JobArguments.flag(option, prefix);
    }

    /** The default of an option; empty if the default is off or no value. */
    public static Optional<String> defaultValue(ConfigOption<?> option) {
        Object value = option.defaultValue();
        if (value == null || value instanceof Boolean || (value instanceof List<?> list && list.isEmpty())) {
            return Optional.empty();
        }
        return Optional.of(OptionValues.text(value));
    }

    /** An option's description as plain text. */
    public static String describe(ConfigOption<?> option) {
        return plain(new HtmlFormatter().format(option.description()));
    }
}
