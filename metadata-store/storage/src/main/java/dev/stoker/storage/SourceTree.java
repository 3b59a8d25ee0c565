package dev.stoker.storage;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.Optional;

/**
 * Lists and reads a tree of files on another file system, from which samples are ingested. Listings cover one directory
 * at a time. Paths are relative to the root, with parts joined by {@code /}; the root itself is the empty path. On an
 * object store, a directory is a common prefix of names. Thread-safe.
 *
 * <p>Methods throw {@link java.nio.file.NoSuchFileException} for a file that does not exist any more, and {@link
 * StoreAccessException} for a file without access rights. If the file system does not answer, they throw {@link
 * StoreUnavailableException}, which states nothing about the file.
 */
public interface SourceTree extends Closeable {

    /** Lists the kinds of entries. Links are followed. */
    enum Kind {
        FILE,
        DIRECTORY,
        /** A link whose target does not exist. */
        BROKEN_LINK
    }

    /**
     * Describes an entry of a directory.
     *
     * @param name name within the directory
     * @param kind kind of the entry
     * @param length length of a file in bytes
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

    /** Returns the full URI of the root, with the file system's authority and without a slash at its end. */
    String location();

    /**
     * Lists the direct entries of a directory, in no particular order.
     *
     * @throws java.nio.file.NotDirectoryException if the path is a file
     */
    void list(String directory, Visitor visitor) throws IOException;

    /** Returns the entry at a path, if it exists. */
    Optional<Entry> find(String path) throws IOException;

    /**
     * Reads a part of a file until the target is full or the file ends. Sends one request if the store permits this,
     * without a request before it. Retries failures with a transient reason. To detect that a file has changed, request
     * one byte more than the listed length.
     *
     * @return the number of bytes read; 0 at or after the end of the file
     */
    int read(String path, long offset, ByteBuffer target) throws IOException;
}
