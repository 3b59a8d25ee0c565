package dev.stoker.connectors.files.listing;

import dev.stoker.connectors.files.source.split.DirectorySplit;
import java.io.Closeable;
import java.io.IOException;

/** Lists directories of one kind of file system. Several threads may use it. */
interface Listing extends Closeable {

    /**
     * Passes on the entries of a directory, without sidecars; in the order of names if the tree is sorted.
     *
     * @throws java.nio.file.NoSuchFileException if the directory no longer exists
     * @throws java.nio.file.NotDirectoryException if it is a file
     * @throws UnreadableException if an entry cannot be used and the tree's errors are not skipped
     * @throws IOException if it cannot be listed
     */
    void list(DirectorySplit directory, DirectoryLister.Visitor visitor) throws IOException;
}
