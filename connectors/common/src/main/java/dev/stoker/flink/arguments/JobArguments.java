package dev.stoker.flink.arguments;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.configuration.Configuration;
import org.jspecify.annotations.Nullable;

/**
 * Arguments of a job, parsed into Flink's typed options. The option with the key {@code feeder.batch-size} is given as
 * {@code --batch-size 64} or {@code --batch-size=64}. A boolean option needs no
 * value; a list option may be repeated. Everything else is positional, as is all that follows a bare {@code --}.
 *
 * <p>Wrong arguments do not cause exceptions: all problems are collected, so that a user sees them together.
 *
 * <p>Not with picocli, which the command uses: the jobs also run under {@code flink run}, where another version of it
 * may be on the class path, and Flink's own types already parse the values. Flink's {@code ParameterTool} knows neither
 * types nor the names of options, so it accepts misspelled ones.
 *
 * @param options the values that were given
 * @param positional the other arguments, in order
 * @param problems one sentence for each thing that is wrong
 */
public record JobArguments(GivenOptions options, List<String> positional, List<String> problems) {

    /**
     * Parses arguments.
     *
     * @param args the arguments
     * @param known the options that may be given
     */
    public static JobArguments parse(String[] args, Collection<JobOption<?>> known) {
        return parse(args, known, Map.of());
    }

    /**
     * Parses arguments.
     *
     * @param args the arguments
     * @param known the options that may be given
     * @param refused other options of the command, each with the problem that it is
     */
    public static JobArguments parse(String[] args, Collection<JobOption<?>> known, Map<JobOption<?>, String> refused) {
        Map<String, JobOption<?>> byFlag = new LinkedHashMap<>();
        known.forEach(option -> byFlag.put(option.flag(), option));
        Map<String, JobOption<?>> others = new LinkedHashMap<>();
        refused.keySet().forEach(option -> others.put(option.flag(), option));
        Configuration values = new Configuration();
        List<String> positional = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        int i = 0;
        while (i < args.length) {
            String argument = args[i++];
            if (argument.equals("--")) {
                while (i < args.length) {
                    positional.add(args[i++]);
                }
            } else if (argument.startsWith("--")) {
                int equals = argument.indexOf('=');
                String name = equals < 0 ? argument : argument.substring(0, equals);
                JobOption<?> other = byFlag.containsKey(name) ? null : others.get(name);
                JobOption<?> option = other == null ? byFlag.get(name) : other;
                String value;
                if (equals >= 0) {
                    value = argument.substring(equals + 1);
                } else if (option != null && option.isSwitch() && (i == args.length || !isTruth(args[i]))) {
                    value = "true";
                } else if (i < args.length && !(option == null && args[i].startsWith("--"))) {
                    value = args[i++];
                } else {
                    value = null;
                }
                if (other == null) {
                    take(name, option, value, values, byFlag.keySet()).ifPresent(problems::add);
                } else if (!problems.contains(refused.get(other))) {
                    problems.add(refused.get(other));
                }
            } else {
                positional.add(argument);
            }
        }
        return new JobArguments(new GivenOptions(values), List.copyOf(positional), List.copyOf(problems));
    }

    @SuppressWarnings("unchecked") // lists have texts
    private static Optional<String> take(
            String name,
            @Nullable JobOption<?> option,
            @Nullable String value,
            Configuration values,
            Collection<String> flags) {
        if (option == null) {
            List<String> meant = Spelling.meant(name, flags);
            return Optional.of("unknown option " + name
                    + (meant.isEmpty() ? "" : ", did you mean " + String.join(" or ", meant) + "?"));
        }
        if (value == null) {
            return Optional.of("option " + name + " needs a value");
        }
        if (option.isList()) {
            add((JobOption<List<String>>) option, value, values);
            return Optional.empty();
        }
        if (isValid(option, value, values) || isValid(option, OptionValues.flinkSize(value), values)) {
            Optional<String> missing = OptionValues.missingUnit(values.get(option.config()), value);
            if (missing.isPresent()) {
                values.removeConfig(option.config());
                return Optional.of("option " + name + ": " + missing.get());
            }
            return Optional.empty();
        }
        values.removeConfig(option.config());
        Object valid = option.defaultValue();
        return Optional.of("option " + name + ": " + value + " is not a valid value"
                + (valid == null ? "" : " (a valid one is " + OptionValues.text(valid) + ")"));
    }

    /** Adds one item. Flink's text for a list would give semicolons and quotes a meaning. */
    private static void add(JobOption<List<String>> option, String value, Configuration values) {
        List<String> all = new ArrayList<>(values.getOptional(option.config()).orElse(List.of()));
        all.add(value);
        values.set(option.config(), all);
    }

    /** Sets an option, and returns whether Flink can read the value as the option's type. */
    private static boolean isValid(JobOption<?> option, String value, Configuration values) {
        values.setString(option.key(), value);
        try {
            values.getOptional(option.config());
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private static boolean isTruth(String value) {
        return value.equals("true") || value.equals("false");
    }
}
