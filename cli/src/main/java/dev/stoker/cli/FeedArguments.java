package dev.stoker.cli;

import dev.stoker.connectors.options.JobArguments;
import dev.stoker.feeder.FeederOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.description.HtmlFormatter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;

/** The feeder's own options as options of a verb, so that the command line and {@code flink run} take the same ones. */
final class FeedArguments {

    private FeedArguments() {}

    /** Adds the feeder's options to a verb. */
    static void describe(CommandSpec spec) {
        HtmlFormatter html = new HtmlFormatter();
        spec.addPositional(PositionalParamSpec.builder()
                .paramLabel("STREAM")
                .description("What to serve: [name=]path[@version][:split]; the split is train by default.")
                .arity("0..*")
                .type(List.class)
                .auxiliaryTypes(String.class)
                .build());
        for (ConfigOption<?> option : FeederOptions.all()) {
            boolean flag = option.defaultValue() instanceof Boolean;
            spec.addOption(OptionSpec.builder(JobArguments.flag(option, FeederOptions.PREFIX))
                    .paramLabel(flag ? "" : "VALUE")
                    .arity(flag ? "0" : "1")
                    .type(flag ? boolean.class : String.class)
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
        for (PositionalParamSpec positional : result.matchedPositionals()) {
            args.addAll(positional.stringValues());
        }
        return args;
    }
}
