package dev.stoker.feeder;

import java.nio.file.Path;

/** The user's Stoker directory: {@code $STOKER_HOME}, by default {@code ~/.stoker}. */
public final class StokerHome {

    private StokerHome() {}

    /** The directory; it need not exist. */
    public static Path directory() {
        String home = System.getenv("STOKER_HOME");
        return home == null || home.isBlank()
                ? Path.of(System.getProperty("user.home"), ".stoker")
                : Path.of(home).toAbsolutePath();
    }

    /** Where the feeds of this user and machine are listed. */
    public static Path feeds() {
        return directory().resolve("feeds");
    }

    /**
     * The file that says where a feed is found.
     *
     * @throws IllegalArgumentException if the name cannot be a file's name
     */
    public static Path feedFile(String name) {
        if (!name.matches("[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")) {
            throw new IllegalArgumentException(
                    "'" + name + "' cannot be the name of a feed: use letters, digits, '.', '_' and '-', at most 100");
        }
        return feeds().resolve(name + ".json");
    }
}
