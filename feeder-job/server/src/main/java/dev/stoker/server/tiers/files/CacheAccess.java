package dev.stoker.server.tiers.files;

import dev.stoker.storage.PrivateFiles;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** Which users of the machine may read and write what disk tiers hold. */
public enum CacheAccess {
    /** The feeder's user alone. */
    USER("rwx------", "rw-------"),
    /** The users of the directory's group, too. */
    GROUP("rwxrwx---", "rw-rw----");

    @SuppressWarnings("ImmutableEnumChecker") // never changed
    private final Set<PosixFilePermission> directories;

    @SuppressWarnings("ImmutableEnumChecker") // never changed
    private final Set<PosixFilePermission> files;

    CacheAccess(String directories, String files) {
        this.directories = PosixFilePermissions.fromString(directories);
        this.files = PosixFilePermissions.fromString(files);
    }

    /** Creates a directory; one that is there is left as it is. */
    public void createDirectory(Path directory) throws IOException {
        try {
            PrivateFiles.createDirectory(directory);
        } catch (FileAlreadyExistsException e) {
            return;
        }
        if (this == GROUP) {
            // Not with the creation, from which the process's mask would take them.
            Files.setPosixFilePermissions(directory, directories);
        }
    }

    /** Creates what is missing of a path. */
    public void createDirectories(Path directory) throws IOException {
        if (Files.isDirectory(directory)) {
            return;
        }
        if (directory.getParent() != null) {
            PrivateFiles.createDirectories(directory.getParent());
        }
        createDirectory(directory);
        if (!Files.isDirectory(directory)) {
            throw new FileSystemException(directory.toString(), null, "is not a directory");
        }
    }

    /** Opens a new file; fails if the name is taken, also by a link. */
    FileChannel createFile(Path file) throws IOException {
        FileChannel channel = PrivateFiles.createFile(file);
        share(file);
        return channel;
    }

    /** Opens a lock file, and creates it if it is missing. */
    FileChannel openLock(Path file) throws IOException {
        boolean isNew = !Files.exists(file, LinkOption.NOFOLLOW_LINKS);
        FileChannel channel = PrivateFiles.openLock(file);
        if (isNew) {
            share(file);
        }
        return channel;
    }

    private void share(Path file) throws IOException {
        if (this == GROUP) {
            Files.setPosixFilePermissions(file, files);
        }
    }

    /**
     * Makes sure that a space is this user's, or its group's where that is wanted, and nobody else's.
     *
     * @throws IOException if somebody else could read the chunks, or replace them
     */
    public void require(Path space) throws IOException {
        if (PrivateFiles.isOwnDirectory(space)) {
            Files.setPosixFilePermissions(space, directories);
        } else if (this == USER || !isShared(space)) {
            throw new FileSystemException(
                    space.toString(),
                    null,
                    "belongs to another user; choose another directory"
                            + (this == USER ? ", or share it with your group with --cache-access group" : ""));
        }
    }

    /** Whether a directory is one that a user has shared with a group of this one. */
    public static boolean isShared(Path space) {
        try {
            Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(space, LinkOption.NOFOLLOW_LINKS);
            return Files.isDirectory(space, LinkOption.NOFOLLOW_LINKS)
                    && permissions.contains(PosixFilePermission.GROUP_WRITE)
                    && !permissions.contains(PosixFilePermission.OTHERS_WRITE)
                    && Files.isWritable(space);
        } catch (IOException | UnsupportedOperationException e) {
            return false;
        }
    }
}
