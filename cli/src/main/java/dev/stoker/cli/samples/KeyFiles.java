package dev.stoker.cli.samples;

import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.output.KeyText;
import dev.stoker.formats.files.SafePath;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Writes files that are named by keys below one directory. A key is never used as a path: {@link SafePath} makes a path
 * of it that stays below the directory, and links in the directory are not followed.
 */
public final class KeyFiles {

    private final Path directory;

    public KeyFiles(Path directory) {
        this.directory = directory;
    }

    /**
     * Writes a new file.
     *
     * @throws CommandException if the file exists, or if the key does not make a file name
     */
    public void write(String key, ByteBuffer value) throws IOException {
        String relative = SafePath.of(key);
        if (SafePath.isTooLong(relative)) {
            throw new CommandException("the key " + KeyText.line(key) + " has a part of more than " + SafePath.MAX_PART
                    + " bytes, which is no file name; read this sample without --to, for example with --json");
        }
        Path parent = directory;
        Files.createDirectories(directory);
        String[] parts = relative.split("/", -1);
        for (int i = 0; i < parts.length - 1; i++) {
            parent = parent.resolve(parts[i]);
            try {
                Files.createDirectory(parent);
            } catch (FileAlreadyExistsException e) {
                if (!Files.isDirectory(parent, LinkOption.NOFOLLOW_LINKS)) {
                    throw new CommandException(parent + " is not a directory, but is needed for the key "
                            + KeyText.line(key) + "; choose an empty directory with --to");
                }
            }
        }
        Path file = parent.resolve(parts[parts.length - 1]);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            while (value.hasRemaining()) {
                channel.write(value);
            }
        } catch (FileAlreadyExistsException e) {
            throw new CommandException(file + " exists already; choose an empty directory with --to");
        }
    }
}
