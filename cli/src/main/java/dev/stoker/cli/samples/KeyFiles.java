package dev.stoker.cli.samples;

import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.output.KeyText;
import dev.stoker.schemas.path.DirectoryPaths;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * Writes files that are named by keys below one directory. A key is never used as a path: it has a path that stays
 * below the directory, and links in the directory are not followed.
 */
public final class KeyFiles {

    private final Path directory;

    private final DirectoryPaths paths;

    /** @param paths the paths of the keys */
    public KeyFiles(Path directory, DirectoryPaths paths) {
        this.directory = directory;
        this.paths = paths;
    }

    /**
     * Writes a new file.
     *
     * @throws CommandException if the file exists, or if its path is longer than the file system allows
     */
    public void write(String key, ByteBuffer value) throws IOException {
        Files.createDirectories(directory);
        try {
            write(key, paths.file(key), value);
        } catch (FileSystemException e) {
            if (e.getReason() != null && e.getReason().contains("too long")) {
                throw new CommandException("the key " + KeyText.line(key) + " makes a path that is longer than the file"
                        + " system allows; read this sample without --to, for example with --json");
            }
            throw e;
        }
    }

    private void write(String key, List<String> names, ByteBuffer value) throws IOException {
        Path parent = directory;
        for (String name : names.subList(0, names.size() - 1)) {
            parent = parent.resolve(name);
            try {
                Files.createDirectory(parent);
            } catch (FileAlreadyExistsException e) {
                if (!Files.isDirectory(parent, LinkOption.NOFOLLOW_LINKS)) {
                    throw new CommandException(parent + " is not a directory, but is needed for the key "
                            + KeyText.line(key) + "; choose an empty directory with --to");
                }
            }
        }
        Path file = parent.resolve(names.get(names.size() - 1));
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            while (value.hasRemaining()) {
                channel.write(value);
            }
        } catch (FileAlreadyExistsException e) {
            throw new CommandException(file + " exists already; choose an empty directory with --to");
        }
    }
}
