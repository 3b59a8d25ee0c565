package dev.stoker.storage;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.Optional;

/**
 * A tree of sample files on another file system. It is listed one directory at a time. Paths are relative to the root,
 * their parts joined by {@code /}; the root itself is the empty path. On an object store a directory is a common prefix
 * of names. Thread-safe.
 *
 * <p>A missing file causes a {@link java.nio.file.NoSuchFileException}, and a forbidden one a {@link
 * StoreAccessException}. A {@link StoreUnavailableException} means that the file system does not answer; it says
 * nothing about the file.
 */
public interface SourceTree extends Closeable {

    /** The kind of an entry; links are followed. */
    enum Kind {
        FILE,
        DIRECTORY,
        /** A link without a target. */
        BROKEN_LINK
    }

    /**
     * An entry of a directory.
     *
     * @param name within the directory
     * @param kind of the entry
     * @param length in bytes, of a file
     * @param modifiedMs time of the last change, in milliseconds since 1970; 0 if the file system does not provide it
     */
    record Entry(String name, Kind kind, long length, long modifiedMs) {
        public Entry {
            Objects.requireNonNull(name, "name");
            Objects.requireNonNull(kind, "kind");
        }
    }

    /** Receives entries while a directory is listed. */
    interface Visitor {
        void entry(Entry entry) throws IOException;
    }

    /** The root as a full URI with the file system's own authority, without a final slash. */
    String location();

    /**
     * Lists a directory without its sub-directories, in no particular order.
     *
     * @throws java.nio.file.NotDirectoryException if the path is a file
     */
    void list(String directory, Visitor visitor) throws IOException;

    /** Returns the entry at a path. */
    Optional<Entry> find(String path) throws IOException;

    /**
     * Reads a part of a file until the target is full or the file ends. Sends one request if the store allows it, and
     * no request before. Temporary failures are retried. A caller that requests one byte more than the listed length
     * can see whether the file has changed.
     *
     * @return the bytes read; 0 at or after the file's end
     */
    int read(String path, long offset, ByteBuffer target) throws IOException;
}
