package dev.stoker.storage;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;

/** What another user of the machine could plant in a directory where both may write. */
public final class HostileNeighbour {

    private static final int NOBODY = 65534;

    private HostileNeighbour() {}

    /**
     * Makes a path foreign, within this process's rights: root gives it to {@code nobody}; other users can only make it
     * writable for everyone.
     */
    public static Path foreign(Path path) throws IOException {
        if (Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0)) {
            Files.setAttribute(path, "unix:uid", NOBODY, LinkOption.NOFOLLOW_LINKS);
        } else {
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxrwxrwx"));
        }
        return path;
    }

    /** Makes a FIFO that no process reads or writes. */
    public static Path fifo(Path path) throws IOException, InterruptedException {
        Process process = new ProcessBuilder("mkfifo", path.toString())
                .redirectErrorStream(true)
                .start();
        if (process.waitFor() != 0) {
            throw new IOException(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
        }
        return path;
    }

    /** A path's permissions as {@code ls} shows them. */
    public static String mode(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path, LinkOption.NOFOLLOW_LINKS));
    }

    /** Everything below a directory that a user other than this one may read or enter; links do not count. */
    @SuppressWarnings("StreamResourceLeak") // The caller closes it.
    public static Stream<Path> open(Path directory) throws IOException {
        return Files.walk(directory).filter(path -> !Files.isSymbolicLink(path)).filter(path -> {
            try {
                return !mode(path).endsWith("------");
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }
}
