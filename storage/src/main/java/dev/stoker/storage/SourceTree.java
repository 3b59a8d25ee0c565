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

    /** What an entry is; links are followed. */
    enum Kind {
        FILE,
        DIRECTORY,
        /** A link to nothing. */
        BROKEN_LINK
    }

    /**
     * An entry of a directory.
     *
     * @param name within the directory
     * @param kind what it is
     * @param length in bytes, of a file
     * @param modifiedMs time of the last change, in milliseconds since 1970; 0 where the file system does not tell
     */
    record Entry(String name, Kind kind, long length, long modifiedMs) {
        public Entry {
            Objects.requireNonNull(name, "name");
            Objects.requireNonNull(kind, "kind");
        }
    }

    /** Takes entries while a directory is listed. */
    interface Visitor {
        void entry(Entry entry) throws IOException;
    }

    /** The root in its full spelling, with the file system's own authority; without a slash at its end. */
    String location();

    /**
     * Lists a directory, not what is below it, in no particular order.
     *
     * @throws java.nio.file.NotDirectoryException if it is a file
     */
    void list(String directory, Visitor visitor) throws IOException;

    /** What is at a path. */
    Optional<Entry> find(String path) throws IOException;

    /**
     * Reads a part of a file: until the target is full or the file ends. One request where the store allows, and no other
     * before; what fails for a reason that may pass is repeated. Whoever asks for one byte more than the length that a
     * listing told sees whether the file is another by now.
     *
     * @return the bytes read, 0 at or behind the file's end
     */
    int read(String path, long offset, ByteBuffer target) throws IOException;
}
