package dev.stoker.cli.options;

import java.util.List;

/** The flag {@code --json} of verbs that pass their other arguments to a job. */
public final class JsonFlag {
    public static final String NAME = "--json";

    private JsonFlag() {}

    public static boolean isIn(List<String> arguments) {
        return arguments.contains(NAME);
    }

    /** Returns the job's arguments, without the flag. */
    public static List<String> without(List<String> arguments) {
        return arguments.stream().filter(argument -> !argument.equals(NAME)).toList();
    }
}
