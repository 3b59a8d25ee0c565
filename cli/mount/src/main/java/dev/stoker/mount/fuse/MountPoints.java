package dev.stoker.mount.fuse;

import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.text.ShellText;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Looks at mount points of this machine and ends mounts. Never touches files of a mount, which could hang. */
final class MountPoints {

    /** Name of the file system type of all mounts of Stoker. */
    static final String TYPE = "fuse.stoker";

    private static final int SECONDS_TO_UNMOUNT = 20;

    private MountPoints() {}

    /**
     * A mount.
     *
     * @param type type of the file system
     * @param source what is mounted, for people
     */
    record Mounted(String type, String source) {

        boolean isOurs() {
            return type.equals(TYPE);
        }
    }

    /** Returns the mount at a directory, the last one if there are several; empty if it is no mount point. */
    static Optional<Mounted> at(Path directory) throws IOException {
        Optional<Mounted> found = Optional.empty();
        for (String line : Files.readAllLines(Path.of("/proc/self/mountinfo"), StandardCharsets.ISO_8859_1)) {
            // See proc(5): the point is the fifth word; type and source follow a lone dash.
            String[] halves = line.split(" - ", 2);
            String[] before = halves[0].split(" ", -1);
            String[] after = halves[1].split(" ", -1);
            if (unescape(before[4]).equals(directory.toString())) {
                found = Optional.of(new Mounted(unescape(after[0]), unescape(after[1])));
            }
        }
        return found;
    }

    /** Decodes the octal escapes of spaces, tabs, line feeds and backslashes, and the bytes as UTF-8. */
    private static String unescape(String word) {
        StringBuilder bytes = new StringBuilder();
        for (int i = 0; i < word.length(); i++) {
            if (word.charAt(i) == '\\' && i + 3 < word.length()) {
                bytes.append((char) Integer.parseInt(word.substring(i + 1, i + 4), 8));
                i += 3;
            } else {
                bytes.append(word.charAt(i));
            }
        }
        return new String(bytes.toString().getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    }

    /** Returns the absolute path of a directory without links, also of a mount point whose process has died. */
    static Path real(Path directory) throws IOException {
        Path absolute = directory.toAbsolutePath().normalize();
        if (at(absolute).isPresent()) {
            return absolute;
        }
        try {
            return absolute.toRealPath();
        } catch (IOException e) {
            Path parent = absolute.getParent();
            Path name = absolute.getFileName();
            return parent == null || name == null || !Files.isDirectory(parent)
                    ? absolute
                    : parent.toRealPath().resolve(name);
        }
    }

    /**
     * Checks that a directory can become a mount point.
     *
     * @throws StokerException if not; the message names the next step
     */
    static void requireFree(Path directory) throws IOException {
        Optional<Mounted> mounted = at(directory);
        if (mounted.isPresent()) {
            throw new StokerException(
                    directory + " is a mount point of " + mounted.get().source()
                            + (mounted.get().isOurs()
                                    ? "; end it with stoker unmount " + ShellText.word(directory.toString())
                                    : ""));
        }
        if (!Files.isDirectory(directory)) {
            throw new StokerException(
                    Files.exists(directory)
                            ? directory + " is not a directory"
                            : "there is no directory " + directory + "; create it with mkdir -p " + directory);
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            if (entries.iterator().hasNext()) {
                throw new StokerException(
                        directory + " is not empty; a mount would hide its files, so choose an empty directory");
            }
        }
    }

    /**
     * Ends the mount at a directory. Programs that have open files there keep them until they close them.
     *
     * @throws StokerException if that fails
     */
    static void unmount(Path directory) throws IOException {
        List<String> failures = new ArrayList<>();
        for (List<String> command : List.of(
                List.of("fusermount", "-u", "-z", directory.toString()),
                List.of("fusermount3", "-u", "-z", directory.toString()),
                List.of("umount", "-l", directory.toString()))) {
            String failure = run(command);
            if (at(directory).isEmpty()) {
                return;
            }
            failures.add(failure);
        }
        throw new StokerException("cannot unmount " + directory + ": " + String.join("; ", failures));
    }

    /** Returns why a command failed; an empty text if it did not. */
    private static String run(List<String> command) throws IOException {
        Process process;
        try {
            process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectInput(Path.of("/dev/null").toFile())
                    .start();
        } catch (IOException e) {
            return command.get(0) + " is not installed";
        }
        try {
            if (!process.waitFor(SECONDS_TO_UNMOUNT, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                return command.get(0) + " does not end";
            }
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return process.exitValue() == 0 ? "" : output;
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while unmounting", e);
        }
    }
}
