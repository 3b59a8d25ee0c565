package dev.stoker.storage;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/**
 * Performs the changes that {@link LocalObjectStore} makes to a file system. Tests implement this interface to simulate
 * power loss.
 */
interface LocalFiles {

    /** Opens a new file for writing; fails if the file exists. */
    FileChannel createNew(Path file) throws IOException;

    /** Makes the content of an open file durable. */
    void force(FileChannel channel, Path file) throws IOException;

    /** Gives an existing file a second name atomically; fails if the name exists. */
    void link(Path existing, Path name) throws IOException;

    /** Gives a file the name of another existing file atomically, which loses its name. */
    void replace(Path file, Path name) throws IOException;

    void delete(Path file) throws IOException;

    void createDirectory(Path directory) throws IOException;

    /** Makes the names in a directory durable. */
    void forceDirectory(Path directory) throws IOException;
}
