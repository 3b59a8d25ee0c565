package dev.stoker.connectors.files;

import java.io.Closeable;
import java.io.IOException;

/** Lists directories of one kind of file system. May be used by several threads. */
interface Listing extends Closeable {

    /**
     * Hands on what a directory holds, without sidecars; in the order of names if the tree is sorted.
     *
     * @throws java.nio.file.NoSuchFileException if it is gone
     * @throws java.nio.file.NotDirectoryException if it is a file
     * @throws UnreadableException if something in it cannot be used and the tree's errors are not to be skipped
     * @throws IOException if it cannot be listed
     */
    void list(DirectorySplit directory, DirectoryLister.Visitor visitor) throws IOException;
}
