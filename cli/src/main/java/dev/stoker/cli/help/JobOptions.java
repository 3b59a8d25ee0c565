package dev.stoker.cli.help;

import dev.stoker.flink.arguments.JobOption;
import dev.stoker.flink.arguments.OptionHeading;
import java.util.List;
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
     * @param headings the options under their headings
     * @param positional label and description of the other arguments
     */
    public static void describe(CommandSpec spec, List<OptionHeading> headings, String... positional) {
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
        for (JobOption<?> option : OptionHeading.options(headings)) {
            boolean flag = option.isSwitch();
            spec.addOption(OptionSpec.builder(option.flag())
                    .paramLabel(option.label())
                    .completionCandidates(option.values().isEmpty() ? null : option.values())
                    .arity(flag ? "0" : "1")
                    .type(flag ? Boolean.class : List.class)
                    .auxiliaryTypes(flag ? Boolean.class : String.class)
                    .description(option.description()
                            + option.defaultText()
                                    .map(value -> " Default: " + value + ".")
                                    .orElse(""))
                    .build());
        }
    }

    /** Returns the values that a label lists, such as {@code top-dir} or {@code skip|include}; none if it is a name. */
    static List<String> values(String label) {
        return label.contains("|") || label.matches("[a-z-]+") ? List.of(label.split("\\|")) : List.of();
    }
}
