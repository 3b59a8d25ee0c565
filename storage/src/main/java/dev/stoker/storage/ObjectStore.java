package dev.stoker.storage;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A flat set of named, immutable objects under one root.
 *
 * <p>Names are relative to the root and use {@code /} between parts on every platform: {@code chunks/3f/….arrow}. A
 * name has no empty, {@code .} or {@code ..} part; see {@link ObjectNames#check}. Objects are immutable: an object is
 * created whole, read, and deleted. Once a call has returned, its effect survives a power loss.
 *
 * <p>Several threads and processes may call all methods at once. A missing object causes a {@link
 * NoSuchObjectException}, and a full disk a {@link NoSpaceException}. Every other failure is an {@link IOException}
 * that names the object.
 */
public interface ObjectStore extends Closeable {

    /** Returns an object's location as a user would type it: an absolute path or a URI. For messages. */
    String describe(String name);

    /** The object's length in bytes. */
    long length(String name) throws IOException;

    /**
     * Fills the target's remaining space with the bytes from {@code offset} on.
     *
     * @throws dev.stoker.schemas.errors.CorruptDataException if the object ends before
     */
    void read(String name, long offset, ByteBuffer target) throws IOException;

    /**
     * Reads bytes from {@code offset} on and passes them on as they arrive, so that a remote store does not need to
     * hold all of them. This default implementation holds all of them.
     *
     * @param length the number of bytes
     * @param sink receives the bytes; its exceptions are passed on unchanged
     * @throws dev.stoker.schemas.errors.CorruptDataException if the object ends before
     */
    default void read(String name, long offset, int length, PartSink sink) throws IOException {
        ByteBuffer all = ByteBuffer.allocate(length);
        read(name, offset, all);
        sink.put(offset, all.flip());
    }

    /**
     * Reads the whole object.
     *
     * @param limitBytes a longer object is refused before memory is allocated
     * @throws dev.stoker.schemas.errors.CorruptDataException if the object is longer than the limit
     */
    byte[] readAll(String name, long limitBytes) throws IOException;

    /**
     * Creates the object with this content unless an object of this name exists. Atomic: the object has all of its
     * content or does not exist. Durable when the call returns.
     *
     * @return whether this call created the object; {@code false} if it already existed
     * @throws UnknownOutcomeException if the object may or may not have been created
     */
    boolean createIfAbsent(String name, byte[] content) throws IOException;

    /**
     * Starts a new object whose name no other writer uses (it contains a random id). {@link ObjectWriter#commit} makes
     * the object visible, whole and durable; closing the writer without a commit leaves nothing behind.
     */
    ObjectWriter write(String name) throws IOException;

    /** Lists all objects whose name starts with the prefix; see {@link #list(String, String)}. */
    default ObjectIterator list(String prefix) throws IOException {
        return list(prefix, "");
    }

    /**
     * Lists the objects whose name starts with the prefix and is greater than {@code after} (compared by UTF-16 code
     * units), in no particular order. The iterator fetches them as it advances. An object that is created or deleted
     * meanwhile may or may not be listed. A prefix may end within a part of a name.
     */
    ObjectIterator list(String prefix, String after) throws IOException;

    /**
     * Lists the remains of dead writers below the prefix: temporary files and unfinished uploads. Also lists those of
     * running writers; callers distinguish them by age. The names can only be passed to {@link #delete}.
     */
    ObjectIterator listUnfinished(String prefix) throws IOException;

    /**
     * Deletes the object; durable when the call returns.
     *
     * @return whether the object existed
     */
    boolean delete(String name) throws IOException;

    /** Returns the object's file, if the store keeps objects as plain files that this machine can map. */
    Optional<Path> localPath(String name);

    /** Releases the store's resources. Stored objects are not affected. */
    @Override
    void close() throws IOException;
}
