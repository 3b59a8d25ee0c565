package dev.stoker.storage;

import dev.stoker.storage.errors.NoSpaceException;
import dev.stoker.storage.errors.NoSuchObjectException;
import dev.stoker.storage.errors.UnknownOutcomeException;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Provides a flat set of named, immutable objects under one root.
 *
 * <p>Names are relative to the root and use {@code /} between parts on every platform: {@code chunks/3f/….arrow}. A
 * name has no empty, {@code .} or {@code ..} part; {@link ObjectNames#check} enforces this. Objects never change: an
 * object is created whole, read, and deleted. The only exception is {@link #replace}, for the erasure of class names.
 * The effects of a completed call survive a power loss.
 *
 * <p>All methods are safe for several threads and processes at the same time. They throw {@link NoSuchObjectException}
 * for an absent object and {@link NoSpaceException} for a full disk. Every other failure is an {@link IOException} that
 * names the object.
 */
public interface ObjectStore extends Closeable {

    /** Returns the location of an object as a user would type it: an absolute path or a URI. For messages. */
    String describe(String name);

    /** Returns the object's length in bytes. */
    long length(String name) throws IOException;

    /**
     * Fills the target's remaining space with the bytes from {@code offset} on.
     *
     * @throws dev.stoker.schemas.errors.CorruptDataException if the object ends before
     */
    void read(String name, long offset, ByteBuffer target) throws IOException;

    /**
     * Reads bytes from {@code offset} on and passes them to the sink as they arrive, so the caller need not keep them
     * all in memory. This implementation reads them into one buffer; remote stores override it.
     *
     * @param length number of bytes
     * @param sink receives the bytes; its exceptions are passed to the caller unchanged
     * @throws dev.stoker.schemas.errors.CorruptDataException if the object ends before
     */
    default void read(String name, long offset, int length, PartSink sink) throws IOException {
        ByteBuffer all = ByteBuffer.allocate(length);
        read(name, offset, all);
        sink.put(offset, all.flip());
    }

    /**
     * Returns the whole object.
     *
     * @param limitBytes maximum length; a longer object is rejected before any memory is allocated
     * @throws dev.stoker.schemas.errors.CorruptDataException if the object is longer than the limit
     */
    byte[] readAll(String name, long limitBytes) throws IOException;

    /**
     * Creates the object with this content unless an object of this name exists. The creation is atomic: the object
     * appears with all of its content or not at all. It is durable when the call returns.
     *
     * @return whether this call created the object; {@code false} if it already existed
     * @throws UnknownOutcomeException if the object may or may not have been created
     */
    boolean createIfAbsent(String name, byte[] content) throws IOException;

    /**
     * Gives an existing object another content. The replacement is atomic: a reader that opens the object gets the old
     * content or the new one, whole. It is durable when the call returns. Only the erasure of class names may use this
     * method, for metadata that keeps its meaning; see decision 46. All processes that replace an object at the same
     * time must write the same content.
     *
     * @throws NoSuchObjectException if the object does not exist; it is not created
     * @throws UnknownOutcomeException if the object may have the old or the new content; the caller can repeat the call
     */
    void replace(String name, byte[] content) throws IOException;

    /**
     * Starts a new object whose name no other writer uses (it contains a random id). {@link ObjectWriter#commit} makes
     * the object visible, whole and durable. If the writer is closed without a commit, no object remains.
     */
    ObjectWriter write(String name) throws IOException;

    /** Lists all objects whose name starts with the prefix; see {@link #list(String, String)}. */
    default ObjectIterator list(String prefix) throws IOException {
        return list(prefix, "");
    }

    /**
     * Lists the objects whose name starts with the prefix and is greater than {@code after} (compared by UTF-16 code
     * units), in no particular order, while the iterator advances. An object that is created or deleted during the
     * listing may or may not be listed. A prefix may end within a part of a name.
     */
    ObjectIterator list(String prefix, String after) throws IOException;

    /**
     * Lists the unfinished files of writers below the prefix: temporary files and unfinished uploads. This includes
     * files of running writers; the age distinguishes them. The names can be used only with {@link #delete}.
     */
    ObjectIterator listUnfinished(String prefix) throws IOException;

    /**
     * Deletes the object. The deletion is durable when the call returns.
     *
     * @return whether the object existed
     */
    boolean delete(String name) throws IOException;

    /** Returns the file of the object, if the store keeps objects as plain files that this machine can map. */
    Optional<Path> localPath(String name);

    /** Releases the resources of the store. Stored objects are not affected. */
    @Override
    void close() throws IOException;
}
