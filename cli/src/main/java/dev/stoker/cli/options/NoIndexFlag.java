package dev.stoker.cli.options;

import java.util.List;

/** The flag {@code --no-index} of {@code stoker ingest}, which passes its other arguments to a job. */
public final class NoIndexFlag {
    public static final String NAME = "--no-index";

    private NoIndexFlag() {}

    public static boolean isIn(List<String> arguments) {
        return arguments.contains(NAME);
    }

    /** Returns the job's arguments, without the flag. */
    public static List<String> without(List<String> arguments) {
        return arguments.stream().filter(argument -> !argument.equals(NAME)).toList();
    }
}
