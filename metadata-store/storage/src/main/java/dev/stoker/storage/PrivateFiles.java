package dev.stoker.storage;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accesses files of this user in directories to which other users of the machine may also write. Other users can create
 * links, FIFOs and directories there, and exchange them at any time. Therefore no method follows a symbolic link in the
 * last part of a path, blocks on opening a FIFO, or removes a file of another user. Thread-safe.
 */
public final class PrivateFiles {

    /** Another process may interfere once or twice, but not always. */
    private static final int TRIES = 8;

    private static final Set<PosixFilePermission> ENTER = PosixFilePermissions.fromString("rwx------");
    private static final FileAttribute<?> DIRECTORY = PosixFilePermissions.asFileAttribute(ENTER);
    private static final FileAttribute<?> FILE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    /** Opening a FIFO only for writing would block until another process reads it. */
    private static final Set<OpenOption> NEVER_WAITING =
            Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);

    private static final Set<OpenOption> CREATING = Set.of(
            StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE, LinkOption.NOFOLLOW_LINKS);

    private PrivateFiles() {}

    /** Creates a directory that only this user can enter. Fails if the name exists. */
    public static Path createDirectory(Path directory) throws IOException {
        return Files.createDirectory(directory, DIRECTORY);
    }

    /** Creates a directory with a random name that only this user can enter. */
    public static Path createTempDirectory(Path place, String prefix) throws IOException {
        return Files.createTempDirectory(place, prefix, DIRECTORY);
    }

    /**
     * Describes a directory of this process. The lock tells other processes that it is in use.
     *
     * @param path the directory
     * @param lock lock that is held until it is closed, or until the process ends in any way
     */
    public record Claimed(Path path, FileChannel lock) {}

    /**
     * Creates a directory with a random name that only this user can enter, and a file in it that this process keeps
     * locked. Another process's {@link #removeLeft} does not remove it.
     */
    public static Claimed claimDirectory(Path place, String prefix, String lock) throws IOException {
        for (int i = 1; ; i++) {
            Path directory = createTempDirectory(place, prefix);
            FileChannel channel = null;
            try {
                Path file = directory.resolve(lock);
                channel = openLock(file);
                // Another process may have removed it as abandoned between its creation and its locking.
                if (channel.tryLock() != null && Files.exists(file)) {
                    return new Claimed(directory, channel);
                }
                channel.close();
                if (i == TRIES) {
                    throw new IOException(
                            "other processes remove new directories in " + place + "; set another temporary directory");
                }
            } catch (IOException e) {
                if (channel != null) {
                    channel.close();
                }
                Files.deleteIfExists(directory.resolve(lock));
                Files.deleteIfExists(directory);
                throw e;
            }
        }
    }

    /** Creates the missing directories of a path for this user only. Existing directories keep their permissions. */
    public static Path createDirectories(Path directory) throws IOException {
        if (Files.isDirectory(directory)) {
            return directory;
        }
        Path parent = directory.toAbsolutePath().getParent();
        if (parent != null) {
            createDirectories(parent);
        }
        try {
            return createDirectory(directory);
        } catch (FileAlreadyExistsException e) {
            if (Files.isDirectory(directory)) {
                return directory;
            }
            throw new FileSystemException(directory.toString(), null, "is not a directory; move it out of the way");
        }
    }

    /**
     * Creates a file for writing and reading that only this user can read. Fails if the name exists, including as a
     * link.
     */
    public static FileChannel createFile(Path file) throws IOException {
        return FileChannel.open(
                file, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE), FILE);
    }

    /** Replaces a file as a whole with one that only this user can read. */
    public static void replace(Path file, byte[] content) throws IOException {
        Path directory = Objects.requireNonNull(file.toAbsolutePath().getParent(), "a file is in a directory");
        createDirectories(directory);
        Path temporary = Files.createTempFile(directory, "." + file.getFileName() + ".", ".tmp", FILE);
        try {
            Files.write(temporary, content, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
            Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    /**
     * Opens a file to lock it. Creates it for this user only if it is missing.
     *
     * @throws FileSystemException if the path is a link, a FIFO, a directory or a device
     */
    public static FileChannel openLock(Path file) throws IOException {
        requireRegular(file);
        return checked(file, FileChannel.open(file, CREATING, FILE));
    }

    /**
     * Opens an existing lock file.
     *
     * @throws NoSuchFileException if it does not exist
     * @throws FileSystemException if the name belongs to a link, a FIFO, a directory or a device
     */
    public static FileChannel openExistingLock(Path file) throws IOException {
        requireRegular(file);
        return checked(file, FileChannel.open(file, NEVER_WAITING));
    }

    /**
     * Another user may have replaced the file between the check and the opening. The opening did not block in that
     * case, and the file is closed.
     */
    private static FileChannel checked(Path file, FileChannel channel) throws IOException {
        try {
            requireRegular(file);
            return channel;
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    private static void requireRegular(Path file) throws IOException {
        BasicFileAttributes found;
        try {
            found = Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        } catch (NoSuchFileException e) {
            return;
        }
        if (!found.isRegularFile()) {
            throw new FileSystemException(
                    file.toString(), null, "is " + kind(found) + " instead of a lock file; move it out of the way");
        }
    }

    private static String kind(BasicFileAttributes found) {
        return found.isSymbolicLink() ? "a symbolic link" : found.isDirectory() ? "a directory" : "a FIFO or a device";
    }

    /** Returns whether a path is a directory of this user, and not a link to one. */
    public static boolean isOwnDirectory(Path path) {
        try {
            PosixFileAttributes found =
                    Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            return found.isDirectory() && found.owner().equals(self());
        } catch (IOException | UnsupportedOperationException e) {
            return false;
        }
    }

    /** Returns the user that runs this process. */
    private static UserPrincipal self() throws IOException {
        Path process = Path.of("/proc/self");
        return Files.exists(process)
                ? Files.getOwner(process)
                : process.getFileSystem()
                        .getUserPrincipalLookupService()
                        .lookupPrincipalByName(System.getProperty("user.name"));
    }

    /**
     * Removes private directories of this user that ended processes have left. Such a directory has a lock file that no
     * process has locked; a directory without lock file is recognized by its age.
     *
     * @param place the parent directory
     * @param names names of directories that may be removed; must not accept one of this process, whose lock would be
     *     lost
     * @param lock name of the lock file in each directory
     * @param leastAge minimum age of a directory without lock file; a younger one may be under construction
     */
    public static void removeLeft(Path place, Predicate<String> names, String lock, Duration leastAge)
            throws IOException {
        try (DirectoryStream<Path> found = Files.newDirectoryStream(place)) {
            if (!(found instanceof SecureDirectoryStream<Path> secure)) {
                return;
            }
            for (Path path : found) {
                if (names.test(path.getFileName().toString())) {
                    try {
                        removeUnlessUsed(secure, path.getFileName(), Path.of(lock), leastAge);
                    } catch (IOException | RuntimeException e) {
                        Log.LOG.debug("{} was not removed", path, e);
                    }
                }
            }
        }
    }

    private static void removeUnlessUsed(SecureDirectoryStream<Path> place, Path name, Path lock, Duration leastAge)
            throws IOException {
        PosixFileAttributes found = attributes(place, name);
        if (!found.isDirectory()
                || !found.owner().equals(self())
                || !found.permissions().equals(ENTER)) {
            return;
        }
        try (SecureDirectoryStream<Path> directory = open(place, name, found)) {
            if (!isThere(directory, lock)) {
                if (found.lastModifiedTime().toInstant().isAfter(Instant.now().minus(leastAge))) {
                    return;
                }
                empty(directory);
            } else if (!attributes(directory, lock).isRegularFile()) {
                return;
            } else {
                try (FileChannel held = (FileChannel) directory.newByteChannel(lock, NEVER_WAITING)) {
                    if (held.tryLock() == null) {
                        return;
                    }
                    empty(directory);
                }
            }
        }
        place.deleteDirectory(name);
    }

    private static boolean isThere(SecureDirectoryStream<Path> directory, Path name) throws IOException {
        try {
            attributes(directory, name);
            return true;
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    private static PosixFileAttributes attributes(SecureDirectoryStream<Path> directory, Path name) throws IOException {
        return directory
                .getFileAttributeView(name, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                .readAttributes();
    }

    /**
     * Opens exactly the directory that was checked. The dot prevents the system from blocking on a FIFO that has the
     * name by now. It permits a link to be followed, which the comparison detects.
     */
    private static SecureDirectoryStream<Path> open(
            SecureDirectoryStream<Path> parent, Path name, BasicFileAttributes looked) throws IOException {
        SecureDirectoryStream<Path> opened = parent.newDirectoryStream(name.resolve("."));
        try {
            BasicFileAttributes found =
                    opened.getFileAttributeView(BasicFileAttributeView.class).readAttributes();
            if (looked.isDirectory() && looked.fileKey().equals(found.fileKey())) {
                return opened;
            }
        } catch (IOException | RuntimeException e) {
            opened.close();
            throw e;
        }
        opened.close();
        throw new FileSystemException(name.toString(), null, "was replaced meanwhile");
    }

    /**
     * Removes a file, or a directory with its contents. Removes a link, but not its target.
     *
     * @throws IOException if something cannot be removed; the rest may have been removed
     */
    public static void delete(Path path) throws IOException {
        Path absolute = path.toAbsolutePath();
        try (DirectoryStream<Path> parent = Files.newDirectoryStream(absolute.getParent())) {
            if (!(parent instanceof SecureDirectoryStream<Path> secure)) {
                throw new IOException("this system cannot remove " + absolute + " safely; remove it by hand");
            }
            deleteIn(secure, absolute.getFileName());
        } catch (NoSuchFileException e) {
            Log.LOG.debug("{} was already removed", path, e);
        }
    }

    private static void deleteIn(SecureDirectoryStream<Path> parent, Path name) throws IOException {
        BasicFileAttributes found = attributes(parent, name);
        if (found.isDirectory()) {
            try (SecureDirectoryStream<Path> below = open(parent, name, found)) {
                empty(below);
            }
            parent.deleteDirectory(name);
        } else {
            parent.deleteFile(name);
        }
    }

    private static void empty(SecureDirectoryStream<Path> directory) throws IOException {
        for (Path path : directory) {
            try {
                deleteIn(directory, path.getFileName());
            } catch (NoSuchFileException e) {
                // Another process is removing it, too.
            }
        }
    }

    /**
     * Loaded with the first line only: before it sets up logging, the command uses this class to find a place for its
     * log.
     */
    private static final class Log {
        static final Logger LOG = LoggerFactory.getLogger(PrivateFiles.class);
    }
}
