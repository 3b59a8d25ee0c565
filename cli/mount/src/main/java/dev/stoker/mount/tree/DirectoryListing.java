package dev.stoker.mount.tree;

import java.io.IOException;
import java.util.Optional;

/** The entries of a directory, one after the other. Not thread-safe. */
public interface DirectoryListing extends AutoCloseable {

    /** Returns the next entry; empty at the end. */
    Optional<Listed> next() throws IOException;

    @Override
    default void close() {}
}
