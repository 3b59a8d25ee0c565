package dev.stoker.feeder.registry;

import dev.stoker.schemas.errors.StokerException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * The user's Stoker directory: {@code $STOKER_HOME}, by default {@code ~/.stoker}. As for a shell and for Python,
 * {@code ~} is {@code $HOME} and only without it the home directory of the password file, which is all that the JVM
 * looks at.
 */
public final class StokerHome {

    /** The system property of a process that belongs to one feed alone, so that ending the process ends the feed. */
    public static final String OWN_PROCESS = "stoker.own-process";

    private StokerHome() {}

    /** The directory; it need not exist. */
    public static Path directory() {
        return directory(System.getenv(), System.getProperty("user.home"));
    }

    static Path directory(Map<String, String> environment, String passwordFileHome) {
        String own = environment.getOrDefault("STOKER_HOME", "");
        if (!own.isBlank()) {
            return Path.of(own).toAbsolutePath();
        }
        String home = environment.getOrDefault("HOME", "");
        return Path.of(home.isBlank() ? passwordFileHome : home, ".stoker").toAbsolutePath();
    }

    /**
     * Refuses a home that is a file.
     *
     * @throws StokerException naming it
     */
    public static void requireDirectory() throws StokerException {
        requireDirectory(directory());
    }

    static void requireDirectory(Path home) throws StokerException {
        if (Files.isRegularFile(home)) {
            throw new StokerException("STOKER_HOME=" + home + " is a file; name a directory");
        }
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
