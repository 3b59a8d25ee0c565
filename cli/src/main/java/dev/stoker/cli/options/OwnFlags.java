package dev.stoker.cli.options;

import java.util.List;

/** Flags of the command, in the arguments of verbs that pass all others to a job. */
public final class OwnFlags {
    public static final String JSON = "--json";
    public static final String NO_INDEX = "--no-index";

    private OwnFlags() {}

    /** Returns the job's arguments, without these flags. */
    public static List<String> without(List<String> arguments, String... flags) {
        List<String> own = List.of(flags);
        return arguments.stream().filter(argument -> !own.contains(argument)).toList();
    }
}
