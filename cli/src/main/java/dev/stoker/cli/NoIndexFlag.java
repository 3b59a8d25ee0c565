package dev.stoker.cli;

import java.util.List;

/** The flag {@code --no-index} of {@code stoker ingest}, which passes its other arguments to a job. */
final class NoIndexFlag {
    static final String NAME = "--no-index";

    private NoIndexFlag() {}

    static boolean isIn(List<String> arguments) {
        return arguments.contains(NAME);
    }

    /** Returns the job's arguments, without the flag. */
    static List<String> without(List<String> arguments) {
        return arguments.stream().filter(argument -> !argument.equals(NAME)).toList();
    }
}
