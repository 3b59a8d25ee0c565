package dev.stoker.cli;

import java.util.List;

/** The flag {@code --json} of verbs that pass their other arguments to a job. */
final class JsonFlag {
    static final String NAME = "--json";

    private JsonFlag() {}

    static boolean isIn(List<String> arguments) {
        return arguments.contains(NAME);
    }

    /** Returns the job's arguments, without the flag. */
    static List<String> without(List<String> arguments) {
        return arguments.stream().filter(argument -> !argument.equals(NAME)).toList();
    }
}
