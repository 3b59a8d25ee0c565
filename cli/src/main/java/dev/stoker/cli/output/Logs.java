package dev.stoker.cli.output;

import dev.stoker.storage.PrivateFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Directs logs to one file per process in the user's Stoker directory, so that a terminal shows only results. */
public final class Logs {

    private static volatile @Nullable Path file;

    private Logs() {}

    /** Chooses the file. Must be called before anything is logged. */
    public static void start(Path home, String verb) {
        if (System.getProperty("log4j2.configurationFile") != null) {
            return;
        }
        try {
            Path directory = PrivateFiles.createDirectories(home.resolve("logs"));
            if (Files.getPosixFilePermissions(directory).contains(PosixFilePermission.OTHERS_WRITE)) {
                throw new IOException("every user can create links in " + directory);
            }
            file = directory.resolve(verb.replaceAll("[^a-z]", "") + "-"
                    + ProcessHandle.current().pid() + ".log");
            System.setProperty("stoker.log", file.toString());
        } catch (IOException | UnsupportedOperationException e) {
            System.setProperty("stoker.log", "/dev/null");
        }
    }

    /** The log file of this process, if there is one. */
    public static Optional<Path> file() {
        return Optional.ofNullable(file).filter(Files::exists);
    }
}
